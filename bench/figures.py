#!/usr/bin/env python3
"""Prints every figure of docs/performance.md: each benchmark several times in turns with its baseline, smallest to largest.

    bench/figures.py [BUILD] [--repetitions N] [--only PROGRAM ...]

BUILD: the folder of a release build with benchmarks (default: build); N: at least 5 (the default).
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

PROGRAMS = ("step", "network", "fmu", "analysis")  # of the library Google Benchmark
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def time_text(seconds):
    for unit in ("s", "ms", "us"):
        if seconds >= 0.9995 * UNITS[unit]:
            return f"{seconds / UNITS[unit]:.3g} {unit}"
    return f"{seconds / UNITS['ns']:.3g} ns"


def range_text(values, text):
    low, high = text(min(values)), text(max(values))
    return low if low == high else f"{low} to {high}"


def counter_text(name):
    """Counters tell their unit by their name, or are seconds per step."""
    if name.startswith("per_step"):
        return time_text
    return lambda value: f"{value:.3g}"


def figures_of(program, repetitions):
    """By benchmark: name -> values of all repetitions, taken in turns with those of all other benchmarks."""
    known = {"name", "run_name", "run_type", "repetitions", "repetition_index", "threads", "iterations", "real_time",
             "cpu_time", "time_unit", "family_index", "per_family_instance_index", "aggregate_name", "aggregate_unit"}
    output = subprocess.run(
        [program, f"--benchmark_repetitions={repetitions}", "--benchmark_enable_random_interleaving=true",
         "--benchmark_min_time=0.2", "--benchmark_format=json"], check=True, stdout=subprocess.PIPE).stdout
    found = {}
    for run in json.loads(output)["benchmarks"]:
        if run["run_type"] != "iteration":
            continue
        values = found.setdefault(run["run_name"], {})
        # Processor time, which other programs hardly disturb, but where several threads work.
        clock = "real_time" if "/real_time" in run["run_name"] else "cpu_time"
        values.setdefault("time", []).append(run[clock] * UNITS[run["time_unit"]])
        for name in run.keys() - known:
            values.setdefault(name, []).append(run[name])
    return found


def print_benchmarks(build, name, repetitions):
    program = build / "bench" / f"bench_{name}"
    if not program.exists():
        print(f"\n## bench_{name}: not built")
        return
    print(f"\n## bench_{name}\n\n| benchmark | time of an iteration | |\n|---|---|---|")
    for benchmark, values in figures_of(program, repetitions).items():
        counters = ", ".join(f"{k}: {range_text(v, counter_text(k))}" for k, v in sorted(values.items()) if k != "time")
        print(f"| {benchmark} | {range_text(values['time'], time_text)} | {counters} |", flush=True)


def output_of(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def print_output(title, command):
    print(f"\n## {title}\n\n{output_of(command)}", flush=True)


def print_ranges(title, command, repetitions):
    """Of a program that measures once: its output with the range of every number that differs."""
    number = re.compile(r"(\d+(?:\.\d+)?(?:e[-+]?\d+)?)")
    runs = [number.split(output_of(command)) for _ in range(repetitions)]
    print(f"\n## {title}\n")
    if len({tuple(run[::2]) for run in runs}) > 1:
        sys.exit(f"{command[0]}: its outputs are not alike")
    text = runs[0][0]
    for k in range(1, len(runs[0]), 2):
        values = sorted((run[k] for run in runs), key=float)
        text += (values[0] if values[0] == values[-1] else f"{values[0]} to {values[-1]}") + runs[0][k + 1]
    print(text, flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build", nargs="?", default="build", type=pathlib.Path)
    options.add_argument("--repetitions", default=5, type=int)
    options.add_argument("--only", nargs="+", metavar="PROGRAM")
    given = options.parse_args()
    if given.repetitions < 5:
        options.error("--repetitions: at least 5")
    count = str(given.repetitions)
    bench = given.build / "bench"
    repeating = {
        "recorder": [bench / "bench_recorder", count],
        "work_precision": [bench / "bench_work_precision"],  # evaluations, which are the same each time
        "bench fmu": [given.build / "mdpcosim", "bench", "fmu", "--repetitions", count],
    }
    single = {
        "ring": [bench / "bench_ring"],
        "reference": [bench / "bench_reference"],
        "transport": [bench / "bench_transport"],
        "mpi": [bench / "bench_mpi"],
        "bench transport": [given.build / "mdpcosim", "bench", "transport", "--runs", "1"],
        "chain": [bench / "bench_chain", "1e-3", "1e-5", "1"],
    }
    for name in PROGRAMS:
        if not given.only or name in given.only:
            print_benchmarks(given.build, name, given.repetitions)
    for title, command in repeating.items():
        if not given.only or title in given.only:
            print_output(title, command)
    for title, command in single.items():
        if not given.only or title in given.only:
            print_ranges(title, command, given.repetitions)


if __name__ == "__main__":
    main()
