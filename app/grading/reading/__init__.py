"""Programs and learners' lines read into numpy: nothing is executed, and all is paid for before it is made.

`tracer` reads expressions and `interpreter` statements, both on a closed list of operations; `line_reader` reads what
can be read of any text, for its shapes; `rules` holds the backward rule of each operation, once. What is read from a
text of a learner's counts only once it has reproduced the numbers that torch gave.
"""
