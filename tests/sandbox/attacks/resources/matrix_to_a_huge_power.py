# Raise a matrix to a power of a million digits.
# outcome: error|timeout|memory
# gate: passes

y = torch.linalg.matrix_power(x, 10**1000)
