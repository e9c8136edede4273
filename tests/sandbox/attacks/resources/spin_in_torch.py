# Compute for ever inside of one operation.
# outcome: timeout
# gate: passes

y = torch.rand(2000, 2000)
while True:
    y = y @ y
