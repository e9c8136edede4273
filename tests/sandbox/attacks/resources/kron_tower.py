# A tower of products.
# outcome: memory|error
# gate: passes

y = x
for _ in range(9):
    y = torch.kron(y, y)
