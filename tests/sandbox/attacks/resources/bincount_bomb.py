# Count up to a large number.
# outcome: memory|error
# gate: passes

y = torch.bincount(torch.tensor([10**11]))
