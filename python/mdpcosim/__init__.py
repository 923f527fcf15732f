"""mdpcosim: co-simulation of models that each bring their own solver.

    import mdpcosim
    s = mdpcosim.load("my.yaml", set={"strut.stiffness": "60 kN/m"})
    r = s.run()
    r["body.mass.position"]          # a numpy array
    print(r.verdict)

Stepping:

    with s.start() as sim:
        while not sim.done:
            sim.step()
            sim["motor.demand"] = 3 * sim["load.speed"]

What goes wrong is raised with the words of the command line: ScenarioError for mistakes, RunError for runs that fail.
"""

from ._library import DefectError, MdpcosimError, RunError, ScenarioError
from .commands import check, command, compare, longtime, order, stability, study
from .scenario import Scenario, load, version
from .simulation import Result, Simulation

__all__ = [
    "DefectError",
    "MdpcosimError",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Simulation",
    "check",
    "command",
    "compare",
    "load",
    "longtime",
    "order",
    "stability",
    "study",
    "version",
]
__version__ = version()
