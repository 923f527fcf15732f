#!/usr/bin/env python3
"""What a scenario gains by being split: variants in turns, work by subsystem, speed-ups over the first one.

    bench/splits.py [--program build/mdpcosim] [--repetitions 5] [--cores 1 2 4] RUN [RUN ...]

RUN: what stands behind 'mdpcosim run', in one word of the shell: 'examples/flat-engine/scenario.yaml --monolithic'. Every one runs with one worker, in turns, and of
user times the smallest is taken: those of a run of one macro step are the start of the program, the rest is shared out to subsystems by what runs sampled of them
(the median). Work on k cores: subsystems dealt out, the largest first, behind the start. Wall time: with one worker, and with as many as the machine has cores.
"""
import argparse
import json
import os
import pathlib
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile


def run(program, words, folder, workers):
    """User time of the process, and its summary."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    own = [] if "--monolithic" in words else ["--workers", str(workers), "--no-verify"]
    done = subprocess.run([program, "run", *words, *own, "--quiet", "--out", folder], stderr=subprocess.PIPE)
    if done.returncode not in (0, 3):
        sys.exit(done.stderr.decode())
    summary = json.loads((pathlib.Path(folder) / "summary.json").read_text())
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, summary


def longest(parts, cores):
    load = [0.0] * cores
    for part in sorted(parts, reverse=True):
        load[load.index(min(load))] += part
    return max(load)


class variant:
    def __init__(self, text):
        self.text, self.words = text, shlex.split(text)
        self.cpu, self.start, self.wall, self.wall_parallel = [], [], [], []
        self.parts, self.evaluations = {}, {}

    def measure(self, program, folder):
        cpu, summary = run(program, self.words, folder, 1)
        self.cpu.append(cpu)
        self.wall.append(summary["wall_seconds"])
        steps = summary["macro_steps"] or 1
        whole = len(summary["subsystems"]) == 1
        for s in summary["subsystems"]:
            self.evaluations[s["name"]] = s["evaluations"]
            self.parts.setdefault(s["name"], []).append(cpu if whole else s["seconds_per_macro_step"] * steps)
        end = summary["time"]["start"] + summary["time"]["step"]
        words = list(self.words)
        if "--end" in words:
            del words[words.index("--end"):words.index("--end") + 2]
        self.start.append(run(program, [*words, "--end", str(end)], folder, 1)[0])
        if not whole:
            _, summary = run(program, self.words, folder, os.cpu_count())
            self.wall_parallel.append(summary["wall_seconds"])

    def shares(self):
        """By subsystem; others on the machine make samples long, but not user time."""
        sampled = {name: statistics.median(times) for name, times in self.parts.items()}
        scale = max(0, min(self.cpu) - min(self.start)) / sum(sampled.values())
        return {name: scale * time for name, time in sampled.items()}

    def work(self, cores):
        return min(self.start) + longest(self.shares().values(), cores)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default="build/mdpcosim")
    options.add_argument("--repetitions", type=int, default=5)
    options.add_argument("--cores", type=int, nargs="+", default=[1, 2, 4])
    options.add_argument("runs", nargs="+", metavar="RUN")
    chosen = options.parse_args()
    variants = [variant(text) for text in chosen.runs]
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(chosen.repetitions):
            for number, one in enumerate(variants):
                one.measure(chosen.program, f"{folder}/{number}")
    first = variants[0]
    for one in variants:
        print(f"\n{one.text}")
        for name, time in one.shares().items():
            count = one.evaluations[name]
            print(f"  {name:<20} {count:>9} evaluations, {1e6 * time / max(count, 1):8.3g} us each, {time:8.4f} s")
        print(f"  start {min(one.start):.4f} s; user time {min(one.cpu):.3f} to {max(one.cpu):.3f} s; "
              f"wall {min(one.wall):.3f} s"
              + (f", with {os.cpu_count()} workers {min(one.wall_parallel):.3f} s" if one.wall_parallel else ""))
        if one is not first:
            print("  speed-up of the work: " + ", ".join(
                f"{first.work(k) / one.work(k):.2f} on {k}" for k in chosen.cores)
                + f"; of the wall time {min(first.wall) / min(one.wall):.2f}"
                + (f", with {os.cpu_count()} workers {min(first.wall) / min(one.wall_parallel):.2f}" if one.wall_parallel else ""))


if __name__ == "__main__":
    main()
