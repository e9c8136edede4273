"""Reads forward lines, and learners' lines, into numpy: nothing is executed, and all is paid for before it is made.

`tracer` reads expressions and `interpreter` statements, both on a closed list of operations; `steps` follows the way of
a share through the program. What is read from a text counts only once it has reproduced the numbers that torch gave.
"""
