"""A simulation that is stepped, looked at and written to, and what a run leaves."""

from __future__ import annotations

import ctypes
import html
import json
from typing import Any, Iterator, Optional, Sequence

import numpy

from . import _library
from ._library import library


class Simulation:
    """Call order: record() if rows are wanted, initialise() (or the first step), step() until done. Used as `with s.start() as sim`."""

    def __init__(self, handle: int, kept: Any = None):
        self._handle, self._kept = handle, kept
        self._initialised = False
        self._places: dict = {}

    def __enter__(self) -> "Simulation":
        self.initialise()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Ends subsystems and gives memory back."""
        if getattr(self, "_handle", None):
            library.mdpcosim_free(self._handle)
            self._handle = None

    def _check(self, status: int) -> None:
        if status:
            _library.check(status, self._handle)

    def record(self) -> None:
        """Keeps the rows of the scenario's `record` in memory; before initialise()."""
        self._check(library.mdpcosim_record(self._handle))

    def initialise(self) -> None:
        """Once; nothing is done the second time."""
        if not self._initialised:
            self._check(library.mdpcosim_initialise(self._handle))
            self._initialised = True

    def step(self) -> None:
        """One macro step."""
        if not self._initialised:
            self.initialise()
        status = library.mdpcosim_step(self._handle)
        if status:
            self._check(status)

    def advance_to(self, t: float) -> None:
        """Macro steps until the time is at least t, or the end."""
        self.initialise()
        self._check(library.mdpcosim_advance_to(self._handle, t))

    def run_for(self, seconds: float) -> None:
        """Macro steps for so many seconds of wall time, or to the end."""
        self.initialise()
        self._check(library.mdpcosim_run_for(self._handle, seconds))

    def reset(self) -> None:
        """Back to before initialise(), with what was set."""
        self._check(library.mdpcosim_reset(self._handle))
        self._initialised = False

    @property
    def time(self) -> float:
        return library.mdpcosim_time(self._handle)

    @property
    def end(self) -> float:
        return library.mdpcosim_end(self._handle)

    @property
    def steps(self) -> int:
        return library.mdpcosim_steps(self._handle)

    @property
    def done(self) -> bool:
        return library.mdpcosim_done(self._handle) == 1

    def value(self, address: str) -> float:
        """An output, an input, a coupling variable, in SI: "body.mass.position", "strut.u"."""
        found = ctypes.c_double()
        status = library.mdpcosim_get(self._handle, address.encode(), ctypes.byref(found))
        if status:
            self._check(status)
        return found.value

    def values(self, addresses: Sequence[str]) -> numpy.ndarray:
        """Several at once, found once: for loops."""
        key = tuple(addresses)
        places = self._places.get(key)
        if places is None:
            found = [library.mdpcosim_find(self._handle, a.encode()) for a in key]
            if -1 in found:
                self.value(key[found.index(-1)])  # says why
            places = self._places[key] = (ctypes.c_int * len(key))(*found)
        numbers = numpy.empty(len(key))
        pointer = numbers.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        self._check(library.mdpcosim_read(self._handle, places, len(key), pointer))
        return numbers

    def set(self, address: str, value: float) -> None:
        """An input that nothing drives, or a parameter, in SI; from the next macro step on."""
        status = library.mdpcosim_set(self._handle, address.encode(), value)
        if status:
            self._check(status)

    __getitem__ = value
    __setitem__ = set

    def text(self, address: str) -> str:
        """An output or input that holds a string."""
        words, size = ctypes.c_char_p(), ctypes.c_size_t()
        self._check(library.mdpcosim_get_text(self._handle, address.encode(), ctypes.byref(words), ctypes.byref(size)))
        return ctypes.string_at(words, size.value).decode()

    def set_text(self, address: str, text: str) -> None:
        words = text.encode()
        self._check(library.mdpcosim_set_text(self._handle, address.encode(), words, len(words)))

    def save(self, path: str) -> None:
        """The whole state, for load_state() into a simulation of the same scenario."""
        self._check(library.mdpcosim_save(self._handle, str(path).encode()))

    def load_state(self, path: str) -> None:
        self._check(library.mdpcosim_load_state(self._handle, str(path).encode()))
        self._initialised = True

    @property
    def summary(self) -> dict:
        """What summary.json of a run would hold."""
        words = ctypes.c_char_p()
        self._check(library.mdpcosim_summary(self._handle, ctypes.byref(words)))
        return json.loads(words.value)

    def columns(self) -> dict:
        """Names of the recorded columns and their units."""
        count = library.mdpcosim_column_count(self._handle)
        return {
            library.mdpcosim_column_name(self._handle, k).decode(): library.mdpcosim_column_unit(self._handle, k).decode()
            for k in range(count)
        }

    def column(self, number: int) -> numpy.ndarray:
        """The numbers of a recorded column so far, copied."""
        return self._view(number).copy()

    def _view(self, number: int) -> numpy.ndarray:
        """Not copied; the array keeps the simulation, which must not step any more."""
        rows = library.mdpcosim_row_count(self._handle)
        if rows == 0:
            return numpy.empty(0)
        place = ctypes.addressof(library.mdpcosim_column(self._handle, number).contents)
        memory = (ctypes.c_double * rows).from_address(place)
        memory.owner = self
        array = numpy.frombuffer(memory)
        array.flags.writeable = False
        return array


class Result:
    """What a run has recorded: r["body.mass.position"] is a numpy array that shares the run's memory, r.time the times."""

    def __init__(self, simulation: Simulation):
        self._simulation = simulation
        self.units: dict = simulation.columns()
        self._numbers = {name: k for k, name in enumerate(self.units)}
        self.summary: dict = simulation.summary

    def __getitem__(self, name: str) -> numpy.ndarray:
        if name not in self._numbers:
            import difflib

            close = difflib.get_close_matches(name, list(self._numbers), 1)
            hint = f" Did you mean '{close[0]}'?" if close else ""
            raise KeyError(f"'{name}' is not recorded. There are: {', '.join(list(self._numbers)[:20])}.{hint}")
        return self._simulation._view(self._numbers[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def keys(self) -> list:
        return list(self._numbers)

    @property
    def time(self) -> numpy.ndarray:
        return self["time"]

    @property
    def verdict(self) -> str:
        """good, doubtful or wrong; "" where nothing was judged."""
        return (self.summary.get("verdict") or {}).get("level", "")

    def to_pandas(self) -> Any:
        """A DataFrame over the time (needs pandas)."""
        import pandas

        return pandas.DataFrame({n: self[n] for n in self if n != "time"}, index=pandas.Index(self.time, name="time"))

    def to_xarray(self) -> Any:
        """A Dataset over the time, with units as attributes (needs xarray)."""
        import xarray

        return xarray.Dataset(
            {n: ("time", self[n], {"units": self.units[n]}) for n in self if n != "time"}, coords={"time": self.time}
        )

    def plot(self, *names: str, axes: Optional[Any] = None) -> Any:
        """Curves over the time (needs matplotlib); without names everything."""
        import matplotlib.pyplot

        axes = axes or matplotlib.pyplot.gca()
        for name in names or [n for n in self if n != "time"]:
            axes.plot(self.time, self[name], label=f"{name} [{self.units[name]}]")
        axes.set_xlabel("time [s]")
        axes.legend()
        return axes

    def __repr__(self) -> str:
        return f"<mdpcosim.Result: {len(self.time)} rows, {len(self) - 1} columns, verdict {self.verdict or 'none'}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(n)}</td><td>{html.escape(self.units[n])}</td><td>{self[n].min():.6g}</td>"
            f"<td>{self[n].max():.6g}</td><td>{self[n][-1]:.6g}</td></tr>"
            for n in self
            if n != "time" and len(self.time)
        )
        return (
            f"<b>{html.escape(self.summary.get('scenario', ''))}</b>: {len(self.time)} rows, verdict <b>{self.verdict or 'none'}</b>"
            f"<table><tr><th></th><th>unit</th><th>min</th><th>max</th><th>end</th></tr>{rows}</table>"
        )
