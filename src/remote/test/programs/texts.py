"""`echo` is the note and the number of steps, `back` the bytes of data in reverse, `twice` is 2 n."""
import mdpcosim_subsystem as subsystem

subsystem.open()
note = subsystem.text_input("note", description="what is said")
data = subsystem.text_input("data", subsystem.BINARY)
n = subsystem.input("n", "1")
subsystem.input_type(n, subsystem.INTEGER)
echo = subsystem.text_output("echo")
back = subsystem.text_output("back", subsystem.BINARY)
twice = subsystem.output("twice", "1")
subsystem.output_type(twice, subsystem.INTEGER)
steps = 0


def advance(begin, end):
    global steps
    steps += 1


def outputs(t):
    subsystem.set_output_text(echo, subsystem.input_text(note).decode() + f"#{steps}")
    subsystem.set_output_text(back, subsystem.input_text(data)[::-1])
    subsystem.set_output(twice, 2 * subsystem.input_at(n, t))


subsystem.run(advance, outputs)
