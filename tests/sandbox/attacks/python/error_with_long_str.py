# An exception whose text is a hundred megabytes.
# outcome: error|memory
# gate: passes

raise ValueError("x" * 10**8)
