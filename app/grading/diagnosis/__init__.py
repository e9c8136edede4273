"""Tables of mistakes: what a learner who makes one would compute, one file per family of operations.

`case_view` holds what many tables look at, `steps` the way of a share through the program, `trace`, `trace_constants`
and `rules` the operations in numpy; the other modules are the families. `diagnose` says in which order they speak.
Nothing here knows a program by name, and no row reads the learner's tensor: a row predicts, the bench compares.
"""
