# Put other data under a tensor after it was checked.
# outcome: done|error
# gate: passes

y = torch.ones(2)
y.data = torch.ones(1).expand(10**12)
