# Spin inside of the C code of a sort.
# outcome: timeout
# gate: passes

list(iter(int, 1))
