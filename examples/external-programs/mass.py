"""The mass of mass.c in Python, with functions that the library calls."""

import struct
import sys

import mdpcosim_subsystem as subsystem

try:
    subsystem.open()
except subsystem.SubsystemError as problem:
    sys.exit(f"mass.py: {problem}")
inverse_mass = 1 / subsystem.parameter("mass", "kg", 1.0, "mass m")
stiffness = subsystem.parameter("stiffness", "N/m", 0.0, "stiffness c")
damping = subsystem.parameter("damping", "N.s/m", 0.0, "damping d")
start = (subsystem.parameter("x0", "m", 0.0, "position at the start"),
         subsystem.parameter("v0", "m/s", 0.0, "velocity at the start"))
force = subsystem.input("mass.force", "N", description="force on the mass")
position = subsystem.output("mass.position", "m")
velocity = subsystem.output("mass.velocity", "m/s")
acceleration = subsystem.output("mass.acceleration", "m/s2")
subsystem.rate(position, velocity)
subsystem.rate(velocity, acceleration)
subsystem.direct(acceleration, force)
subsystem.port("mass", "translation", description="the mass")
state = start


def derivatives(x, v, F):
    return v, (F - stiffness * x - damping * v) * inverse_mass


def initialise(t0):
    global state
    state = start


def advance(t0, t1):
    """One step of the classical Runge-Kutta method."""
    global state
    h = t1 - t0
    x, v = z = state
    total = [0.0, 0.0]
    for after, reach, weight in ((0.0, 0.5 * h, 1), (0.5 * h, 0.5 * h, 2), (0.5 * h, h, 2), (h, 0.0, 1)):
        k = derivatives(*z, subsystem.input_after(force, after))
        total = [total[0] + weight * k[0], total[1] + weight * k[1]]
        z = (x + reach * k[0], v + reach * k[1])
    state = (x + h / 6 * total[0], v + h / 6 * total[1])


def outputs(t):
    subsystem.set_output(position, state[0])
    subsystem.set_output(velocity, state[1])
    subsystem.set_output(acceleration, derivatives(*state, subsystem.input_at(force, t))[1])


def save():
    return struct.pack("dd", *state)


def restore(saved):
    global state
    state = struct.unpack("dd", saved)


subsystem.run(advance, outputs, initialise, save, restore)
