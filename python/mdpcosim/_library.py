"""libmdpcosim through ctypes: the functions of mdpcosim.h."""

import ctypes as c
import os
import pathlib


class MdpcosimError(Exception):
    """What mdpcosim says went wrong, in its own words."""


class ScenarioError(MdpcosimError, ValueError):
    """A mistake in the scenario, or in a call: exit status 2 of the program."""


class RunError(MdpcosimError, RuntimeError):
    """The run failed: a subsystem, a coupling that diverged, a file: exit status 1 of the program."""


class DefectError(MdpcosimError):
    """A mistake in mdpcosim itself."""


class Options(c.Structure):
    MESSAGE = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p)
    _fields_ = [
        ("size", c.c_size_t),
        ("transport", c.c_char_p),
        ("workers", c.c_int),
        ("monolithic", c.c_int),
        ("settings", c.POINTER(c.c_char_p)),
        ("setting_count", c.c_size_t),
        ("message", MESSAGE),
        ("context", c.c_void_p),
        ("in_process", c.c_int),
    ]


def _places():
    """Beside an installed package (PREFIX/lib/python3/dist-packages), in a build, or where MDPCOSIM_PREFIX says."""
    here = pathlib.Path(__file__).resolve()
    prefix = os.environ.get("MDPCOSIM_PREFIX")
    if prefix:
        yield pathlib.Path(prefix)
        return
    for parent in here.parents:
        yield parent
        yield parent / "build"
    yield pathlib.Path("/usr/local")
    yield pathlib.Path("/usr")


def _find(*names):
    for place in _places():
        for name in names:
            if (place / name).is_file():
                return str(place / name)
    return None


def program():
    """The command line program."""
    found = _find("bin/mdpcosim", "mdpcosim")
    if found is None:
        raise MdpcosimError("the program 'mdpcosim' was not found. Set MDPCOSIM_PREFIX to where mdpcosim is installed.")
    return found


def _load():
    found = _find("lib/libmdpcosim.so.1", "lib64/libmdpcosim.so.1")
    if found is None:
        raise ImportError("libmdpcosim.so.1 was not found. Set MDPCOSIM_PREFIX to where mdpcosim is installed.")
    library = c.CDLL(found)
    handle, text = c.c_void_p, c.c_char_p
    for name, result, arguments in [
        ("version", text, []),
        ("load", handle, [text, c.POINTER(Options)]),
        ("load_text", handle, [text, text, c.POINTER(Options)]),
        ("free", None, [handle]),
        ("last_error", text, [handle]),
        ("last_status", c.c_int, [handle]),
        ("initialise", c.c_int, [handle]),
        ("step", c.c_int, [handle]),
        ("advance_to", c.c_int, [handle, c.c_double]),
        ("run_for", c.c_int, [handle, c.c_double]),
        ("reset", c.c_int, [handle]),
        ("time", c.c_double, [handle]),
        ("end", c.c_double, [handle]),
        ("steps", c.c_int64, [handle]),
        ("done", c.c_int, [handle]),
        ("get", c.c_int, [handle, text, c.POINTER(c.c_double)]),
        ("find", c.c_int, [handle, text]),
        ("read", c.c_int, [handle, c.POINTER(c.c_int), c.c_size_t, c.POINTER(c.c_double)]),
        ("set", c.c_int, [handle, text, c.c_double]),
        ("get_text", c.c_int, [handle, text, c.POINTER(text), c.POINTER(c.c_size_t)]),
        ("set_text", c.c_int, [handle, text, text, c.c_size_t]),
        ("save", c.c_int, [handle, text]),
        ("load_state", c.c_int, [handle, text]),
        ("summary", c.c_int, [handle, c.POINTER(text)]),
        ("record", c.c_int, [handle]),
        ("row_count", c.c_size_t, [handle]),
        ("column_count", c.c_size_t, [handle]),
        ("column_name", text, [handle, c.c_size_t]),
        ("column_unit", text, [handle, c.c_size_t]),
        ("column", c.POINTER(c.c_double), [handle, c.c_size_t]),
    ]:
        function = getattr(library, "mdpcosim_" + name)
        function.restype, function.argtypes = result, arguments
    return library


library = _load()


def check(status, handle):
    """Raises what the status stands for."""
    if status == 0:
        return
    words = library.mdpcosim_last_error(handle).decode(errors="replace")
    raise {1: RunError, 2: ScenarioError}.get(status, DefectError)(words)
