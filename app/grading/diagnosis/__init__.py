"""Mistakes: what a learner who makes one would compute, one module for each family.

`grammar`, `brackets`, `call_kinds` and `edits` hold the small edits that turn the rules of `reading`, and lines, into
slips; `gradient_analysis` what many families look at, and `steps` the way of a share through the program. `diagnose`
says in which order the families speak. Nothing here knows a program by name, and no row reads the learner's tensor: a
row predicts, the view compares.
"""
