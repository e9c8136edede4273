# A sum of a row and a column that is a square of ten billion.
# outcome: memory
# gate: passes

n = torch.arange(10.0**5)
y = n[:, None] + n
