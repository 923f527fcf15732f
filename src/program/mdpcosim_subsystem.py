"""A Python program as a subsystem of mdpcosim: mdpcosim_subsystem.h through ctypes, with nothing but Python's own library.

The functions are those of the header without the prefix; call order and rules stand there. They raise SubsystemError instead of
returning -1, and texts that are left out are None. Functions of yours, for run, take what the header says without `own`, and may raise
whatever they like: that ends the run with its text as the reason.

    import mdpcosim_subsystem as subsystem
    subsystem.open()
    gain = subsystem.parameter("gain", "1", 2.0)
    u = subsystem.input("u", "V")
    y = subsystem.output("y", "V")
    while (step := subsystem.receive()).what == subsystem.STEP:
        subsystem.set_output(y, gain * subsystem.input_at(u, step.end))
        subsystem.send()
"""

import ctypes
import math
import os
import typing

END, STEP, OUTPUTS = 0, 1, 2
REAL, INTEGER, BOOLEAN, STRING, BINARY = 0, 1, 2, 3, 4
COEFFICIENTS = 7


class SubsystemError(RuntimeError):
    """What the library says went wrong; mdpcosim knows it, too."""


def _load():
    name = "libmdpcosim_subsystem.so.1"
    here = os.path.dirname(os.path.realpath(__file__))
    for path in (os.path.join(here, name), os.path.join(here, "..", name)):
        if os.path.exists(path):
            return ctypes.CDLL(path)
    return ctypes.CDLL(name)


_library = _load()
_double, _int, _text = ctypes.c_double, ctypes.c_int, ctypes.c_char_p


def _function(name, result, *arguments):
    function = getattr(_library, "mdpcosim_subsystem_" + name)
    function.restype = result
    function.argtypes = arguments
    return function


_open = _function("open", _int)
_name = _function("name", _text)
_parameter = _function("parameter", _double, _text, _text, _double, _text)
_tunable = _function("tunable", _int, _text, _text, _double, _text)
_list = _function("list", _int, _text, _text, ctypes.POINTER(_double), _int, _int, _text)
_text_parameter = _function("text", _text, _text, _text, _text)
_input = _function("input", _int, _text, _text, _int, _text)
_output = _function("output", _int, _text, _text, _int, _text)
_input_type = _function("input_type", _int, _int, _int)
_output_type = _function("output_type", _int, _int, _int)
_text_input = _function("text_input", _int, _text, _int, _text)
_text_output = _function("text_output", _int, _text, _int, _text)
_input_text = _function("input_text", ctypes.c_void_p, _int, ctypes.POINTER(ctypes.c_size_t))
_set_output_text = _function("set_output_text", _int, _int, _text, ctypes.c_size_t)
_max_degree = _function("max_degree", _int, _int, _int)
_start = _function("start", _int, _int, _double)
_rate = _function("rate", _int, _int, _int)
_direct = _function("direct", _int, _int, _int)
_sampled = _function("sampled", _int)
_port = _function("port", _int, _text, _text, _text, _text, _text)
_polynomial = _function("polynomial", ctypes.POINTER(_double), _int)
_receive = _function("receive", _int, ctypes.POINTER(_double), ctypes.POINTER(_double))
_send = _function("send", _int)
_fail = _function("fail", _int, _text)
_message = _function("message", _text)
_set_output = _function("set_output", _int, _int, _double)
# Called most often, as they are; a failure shows in receive and run.
input_at = _function("input_at", _double, _int, _double)
input_after = _function("input_after", _double, _int, _double)
tunable_value = _function("tunable_value", _double, _int)

_initialise_type = ctypes.CFUNCTYPE(_int, ctypes.c_void_p, _double)
_advance_type = ctypes.CFUNCTYPE(_int, ctypes.c_void_p, _double, _double)
_size_type = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)
_bytes_type = ctypes.CFUNCTYPE(_int, ctypes.c_void_p, ctypes.c_void_p)


class _Calls(ctypes.Structure):
    _fields_ = [("initialise", _initialise_type), ("advance", _advance_type), ("outputs", _initialise_type),
                ("save_size", _size_type), ("save", _bytes_type), ("restore", _bytes_type)]


_run = _function("run", _int, ctypes.POINTER(_Calls), ctypes.c_void_p)


def message():
    return _message().decode()


def _bytes(text):
    return None if text is None else text.encode()


def _checked(status):
    failure = message()
    if failure:
        raise SubsystemError(failure)
    return status


def open():
    _checked(_open())


def name():
    return _name().decode()


def parameter(name, unit=None, default=math.nan, description=None):
    return _checked(_parameter(_bytes(name), _bytes(unit), default, _bytes(description)))


def tunable(name, unit=None, default=math.nan, description=None):
    return _checked(_tunable(_bytes(name), _bytes(unit), default, _bytes(description)))


def text(name, default=None, description=None):
    return _checked(_text_parameter(_bytes(name), _bytes(default), _bytes(description))).decode()


def list(name, unit=None, default=(), description=None, capacity=1000):
    values = (_double * max(capacity, len(default)))(*default)
    return values[:_checked(_list(_bytes(name), _bytes(unit), values, len(default), len(values), _bytes(description)))]


def input(name, unit=None, size=1, description=None):
    return _checked(_input(_bytes(name), _bytes(unit), size, _bytes(description)))


def output(name, unit=None, size=1, description=None):
    return _checked(_output(_bytes(name), _bytes(unit), size, _bytes(description)))


def input_type(input, type):
    _checked(_input_type(input, type))


def output_type(output, type):
    _checked(_output_type(output, type))


def text_input(name, type=STRING, description=None):
    return _checked(_text_input(_bytes(name), type, _bytes(description)))


def text_output(name, type=STRING, description=None):
    return _checked(_text_output(_bytes(name), type, _bytes(description)))


def max_degree(input, degree):
    _checked(_max_degree(input, degree))


def start(input, value):
    _checked(_start(input, value))


def rate(output, rate):
    _checked(_rate(output, rate))


def direct(output, input):
    _checked(_direct(output, input))


def sampled():
    _checked(_sampled())


def port(name, kind, causality=None, variables=None, description=None):
    _checked(_port(*map(_bytes, (name, kind, causality, variables, description))))


def polynomial(input):
    """The coefficients c: the value at t0 + s is the sum of c[k] s^k."""
    return _checked(_polynomial(input))[:COEFFICIENTS]


def set_output(output, value):
    if _set_output(output, value) != 0:
        _checked(-1)


def input_text(text_input):
    """The bytes of a text input; .decode() makes a string of them."""
    size = ctypes.c_size_t()
    text = _checked(_input_text(text_input, ctypes.byref(size)))
    return ctypes.string_at(text, size.value)


def set_output_text(text_output, text):
    """A string, or bytes."""
    data = text.encode() if isinstance(text, str) else bytes(text)
    if _set_output_text(text_output, data, len(data)) != 0:
        _checked(-1)


def run(advance, outputs=None, initialise=None, save=None, restore=None):
    """save() returns the state as bytes; restore(state) brings it back."""
    def guarded(function):
        def call(_own, *times):
            try:
                function(*times)
                return 0
            except BaseException as problem:  # none may pass through the library
                return fail(f"{type(problem).__name__}: {problem}")
        return call

    calls = _Calls()
    if initialise is not None:
        calls.initialise = _initialise_type(guarded(initialise))
    calls.advance = _advance_type(guarded(advance))
    if outputs is not None:
        calls.outputs = _initialise_type(guarded(outputs))
    if save is not None and restore is not None:
        kept = b""

        def keep():
            nonlocal kept
            state = bytes(save())
            kept = len(state).to_bytes(8, "little") + state

        def save_size(own):
            guarded(keep)(own)
            return len(kept)

        def bring_back(held):
            size = int.from_bytes(ctypes.string_at(held, 8), "little")
            restore(ctypes.string_at(held + 8, size))

        calls.save_size = _size_type(save_size)
        calls.save = _bytes_type(guarded(lambda into: ctypes.memmove(into, kept, len(kept))))
        calls.restore = _bytes_type(guarded(bring_back))
    elif save is not None or restore is not None:
        raise SubsystemError("save and restore come together")
    _checked(_run(ctypes.byref(calls), None))


class Step(typing.NamedTuple):
    what: int
    begin: float
    end: float


def receive():
    begin, end = _double(), _double()
    what = _receive(ctypes.byref(begin), ctypes.byref(end))
    if what < 0:
        _checked(what)
    return Step(what, begin.value, end.value)


def send():
    if _send() != 0:
        _checked(-1)


def fail(text):
    return _fail(_bytes(text))
