"""Mistakes: what a learner who makes one would compute, one module for each family.

`rules` holds the backward rule of each operation, once; `grammar`, `call_kinds` and `edits` the small edits that turn
rules and lines into slips. `case_view` holds what many families look at, `steps` the way of a share through the
program, and `tracing` reads texts in numpy. `diagnose` says in which order the families speak. Nothing here knows a
program by name, and no row reads the learner's tensor: a row predicts, the view compares.
"""
