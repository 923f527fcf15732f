"""What the program does besides running: as functions that return what --json prints."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import tempfile
from typing import Any, Mapping, Optional, Union

from ._library import RunError, ScenarioError, program

Path = Union[str, os.PathLike]


def command(*words: Any) -> str:
    """Runs `mdpcosim WORDS...` and gives what it prints; raises what it says where it fails. A verdict that is wrong (status 3) is no failure."""
    done = subprocess.run([program(), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode == 130:
        raise KeyboardInterrupt
    if done.returncode not in (0, 3):
        said = done.stderr.strip()
        raise (ScenarioError if done.returncode == 2 else RunError)(said.removeprefix("mdpcosim: "))
    return done.stdout


def _settings(settings: Optional[Mapping[str, Any]]) -> list:
    return [word for name, value in (settings or {}).items() for word in ("--set", f"{name}={value}")]


def _options(options: Mapping[str, Any]) -> list:
    words: list = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words += [option, str(value)]
    return words


def check(scenario: Path, set: Optional[Mapping[str, Any]] = None) -> str:
    """The coupled system in words, as it was understood; nothing is run."""
    return command("check", scenario, *_settings(set))


def compare(a: Path, b: Path) -> str:
    """The errors between two result folders, as a table."""
    return command("compare", a, b)


def stability(**options: Any) -> Any:
    """`mdpcosim stability`; options with underscores: stability(extrapolation="lin-2-3-opt", F=10)."""
    return json.loads(command("stability", "--json", *_options(options)))


def order(**options: Any) -> Any:
    """`mdpcosim order`."""
    return json.loads(command("order", "--json", *_options(options)))


def longtime(**options: Any) -> Any:
    """`mdpcosim longtime`."""
    return json.loads(command("longtime", "--json", *_options(options)))


class Study:
    """What a study left: `summary`, and `table`, a dict of columns (numbers as float where all are)."""

    def __init__(self, folder: Path, summary: dict):
        self.folder, self.summary = os.fspath(folder), summary
        with open(os.path.join(self.folder, "table.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        self.table = {name: _column([row[k] for row in rows[1:]]) for k, name in enumerate(rows[0])}

    def __len__(self) -> int:
        return len(next(iter(self.table.values())))

    def to_pandas(self) -> Any:
        """A DataFrame (needs pandas)."""
        import pandas

        return pandas.DataFrame(self.table).set_index("variant")


def _column(cells: list) -> list:
    try:
        return [float(cell) if cell else float("nan") for cell in cells]
    except ValueError:
        return cells


def study(description: Union[Path, Mapping[str, Any]], out: Optional[Path] = None, **options: Any) -> Study:
    """`mdpcosim study`: a file, or a dict with its keys, whose paths start at the working folder."""
    if not isinstance(description, Mapping):
        summary = json.loads(command("study", description, "--json", *(["--out", out] if out else []), *_options(options)))
        return Study(summary["folder"], summary)
    if out is None:
        raise ScenarioError("study: a study from a dict needs a folder: out=...")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", dir=os.getcwd(), delete=False) as file:
        json.dump(description, file)
    try:
        summary = json.loads(command("study", file.name, "--out", out, "--json", *_options(options)))
    finally:
        os.unlink(file.name)
    return Study(out, summary)
