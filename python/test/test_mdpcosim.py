"""The package against the program: values, words of mistakes, memory."""

import csv
import gc
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy

import mdpcosim

SOURCE = pathlib.Path(os.environ["MDPCOSIM_SOURCE"])
EXAMPLE = SOURCE / "examples/two-mass/scenario.yaml"

STRUT = {
    "time": {"end": "0.2 s", "step": "1 ms"},
    "subsystems": {
        "wheel": {"model": "mass-spring-damper", "set": {"mass": "40 kg", "stiffness": "200 kN/m"}},
        "body": {"model": "mass-spring-damper", "set": {"mass": "400 kg", "x0": "20 mm"}},
    },
    "connections": {
        "strut": {
            "law": "spring-damper",
            "between": ["wheel.mass", "body.mass"],
            "stiffness": "20 kN/m",
            "damping": "1500 N.s/m",
        }
    },
    "record": {"every": "10 ms"},
}


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        before = os.getcwd()
        os.chdir(self.folder.name)
        self.addCleanup(os.chdir, before)

    def test_values_are_those_of_the_program(self):
        mdpcosim.command("run", EXAMPLE, "--out", "out", "--quiet", "--set", "spring.stiffness=700")
        with open("out/results.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        r = mdpcosim.load(EXAMPLE, set={"spring.stiffness": 700}).run()
        self.assertEqual(r.keys(), rows[0])
        for k, name in enumerate(rows[0]):
            self.assertEqual(r[name].tolist(), [float(row[k]) for row in rows[1:]], name)
        self.assertEqual(r.units["spring.u"], "N")
        self.assertEqual(r.verdict, "good")
        self.assertIn("201 rows", repr(r))
        self.assertIn("spring.u", r._repr_html_())

    def test_arrays_share_memory_and_outlive_the_result(self):
        r = mdpcosim.load(EXAMPLE).run()
        a, b = r["A.mass.position"], r["A.mass.position"]
        self.assertTrue(numpy.shares_memory(a, b))
        self.assertFalse(a.flags.writeable)
        kept = a.tolist()
        del r, b
        gc.collect()
        mdpcosim.load(EXAMPLE).run()
        self.assertEqual(a.tolist(), kept)

    def test_stepping_is_a_run(self):
        s = mdpcosim.load(STRUT)
        r = s.run()
        with s.start() as sim:
            while not sim.done:
                sim.step()
            self.assertEqual(sim["strut.u"], r["strut.u"][-1])
            both = sim.values(["body.mass.position", "strut.u"])
            self.assertEqual(both.tolist(), [sim["body.mass.position"], sim["strut.u"]])
            self.assertEqual(sim.steps, 200)
            sim.save("state")
            sim.reset()
            sim["body.mass"] = 500
            sim.advance_to(0.1)
            other = mdpcosim.load(STRUT, set={"body.mass": "500 kg"}).run()
            self.assertEqual(sim["body.mass.position"], other["body.mass.position"][10])
        with s.start() as sim:
            sim.load_state("state")
            self.assertEqual(sim["strut.u"], r["strut.u"][-1])

    def test_mistakes_have_the_words_of_the_program(self):
        with self.assertRaises(mdpcosim.ScenarioError) as caught:
            mdpcosim.load(EXAMPLE, set={"spring.stiffnes": 1}).start()
        said = subprocess.run(
            [mdpcosim._library.program(), "check", str(EXAMPLE), "--set", "spring.stiffnes=1"], stderr=subprocess.PIPE, text=True, check=False
        )
        self.assertEqual(said.returncode, 2)
        self.assertIn("Did you mean 'stiffness'?", str(caught.exception))
        self.assertEqual(str(caught.exception).split(": ", 1)[1], said.stderr.strip().split(": ", 2)[2])
        with self.assertRaises(mdpcosim.ScenarioError) as caught:
            mdpcosim.check("nowhere.yaml")
        self.assertIn("nowhere.yaml", str(caught.exception))
        r = mdpcosim.load(STRUT).run()
        with self.assertRaises(KeyError) as caught:
            r["body.mass.positon"]
        self.assertIn("Did you mean 'body.mass.position'?", str(caught.exception))
        with mdpcosim.load(STRUT).start() as sim, self.assertRaises(mdpcosim.ScenarioError):
            sim["body.mas"]

    def test_a_run_that_diverges_is_raised(self):
        with self.assertRaises(mdpcosim.RunError) as caught:
            mdpcosim.load(STRUT, set={"time.step": "60 ms", "time.end": "60 s"}).run()
        self.assertIn("strut", str(caught.exception))

    def test_other_threads_run_meanwhile_and_ctrl_c_is_heard(self):
        long = mdpcosim.load(STRUT, set={"time.end": "20000 s"})
        counted = [0]
        stop = threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1
                time.sleep(0.001)

        counter = threading.Thread(target=count)
        counter.start()
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            long.run()
        stop.set()
        counter.join()
        self.assertGreater(counted[0], 5)

    def test_studies_give_their_table(self):
        with open("s.yaml", "w", encoding="utf-8") as file:
            import json

            json.dump(STRUT, file)
        done = mdpcosim.study(
            {
                "scenario": "s.yaml",
                "vary": {"body.mass": ["300 kg", "400 kg"], "method": ["explicit", "one-pass"]},
                "measure": {"x": {"end": "body.mass.position"}},
            },
            out="out",
        )
        self.assertEqual(done.table["method"], ["explicit", "one-pass"] * 2)
        self.assertEqual(done.summary["done"], 4)
        alone = mdpcosim.load(STRUT, set={"body.mass": 400}).run()
        self.assertEqual(done.table["x"][2], alone["body.mass.position"][-1])

    def test_analyses_are_functions(self):
        found = mdpcosim.stability(extrapolation="lin-2-3-opt")
        self.assertTrue(found)
        self.assertIn("spring", mdpcosim.check(EXAMPLE))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
