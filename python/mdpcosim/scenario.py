"""Scenarios: from files, texts and dicts."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any, Callable, Mapping, Optional, Union

from . import _library
from ._library import library
from .simulation import Result, Simulation

Setting = Union[str, float, int, bool]


def version() -> str:
    """Of the library, "0.1.0"."""
    return library.mdpcosim_version().decode()


def load(scenario: Union[str, os.PathLike, Mapping[str, Any]], set: Optional[Mapping[str, Setting]] = None) -> "Scenario":
    """A scenario file, or a dict with the same keys. `set` is --set: {"strut.stiffness": "60 kN/m"}; bare numbers are SI."""
    return Scenario(scenario, dict(set or {}))


class Scenario:
    """What can be run; nothing is read before it is."""

    def __init__(self, source: Union[str, os.PathLike, Mapping[str, Any]], settings: dict):
        self.source, self.settings = source, settings

    def with_settings(self, settings: Mapping[str, Setting]) -> "Scenario":
        """The same with more settings."""
        return Scenario(self.source, {**self.settings, **settings})

    def start(
        self,
        *,
        transport: str = "threads",
        workers: int = 0,
        monolithic: bool = False,
        in_process: bool = False,
        messages: Optional[Callable[[str], None]] = None,
    ) -> Simulation:
        """A simulation at its start. FMUs and plugins run in processes of their own unless `in_process`."""
        words = [f"{name}={_text(value)}".encode() for name, value in self.settings.items()]
        settings = (ctypes.c_char_p * max(1, len(words)))(*words)
        tell = _library.Options.MESSAGE(lambda _, text: messages(text.decode(errors="replace")) if messages else None)
        options = _library.Options(
            ctypes.sizeof(_library.Options), transport.encode(), workers, int(monolithic), settings, len(words), tell, None,
            int(in_process),
        )
        if isinstance(self.source, Mapping):
            handle = library.mdpcosim_load_text(json.dumps(self.source).encode(), os.fsencode(os.getcwd()), ctypes.byref(options))
        else:
            handle = library.mdpcosim_load(os.fsencode(self.source), ctypes.byref(options))
        if not handle:
            _library.check(library.mdpcosim_last_status(None), None)
        return Simulation(handle, (settings, tell, messages))

    def run(self, *, progress: Optional[bool] = None, **options: Any) -> Result:
        """To the end, with what the scenario records in memory. Options are those of start(); `progress`: a line on standard error (default: on a terminal)."""
        shown = sys.stderr.isatty() if progress is None else progress
        simulation = self.start(**options)
        try:
            simulation.record()
            simulation.initialise()
            begin, slice_of_time = simulation.time, 0.05
            while not simulation.done:
                simulation.run_for(slice_of_time)  # Ctrl-C is heard between
                if shown:
                    share = (simulation.time - begin) / max(1e-300, simulation.end - begin)
                    print(f"\r{100 * share:3.0f} % t = {simulation.time:.4g} s", end="", file=sys.stderr, flush=True)
            if shown:
                print("\r\033[K", end="", file=sys.stderr, flush=True)
            return Result(simulation)
        except BaseException:
            simulation.close()
            raise


def _text(value: Setting) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)
