# Keep a tensor of vmap beyond its end.
# outcome: done|error

kept = []
torch.func.vmap(lambda row: kept.append(row) or row)(torch.ones(3, 2))
y = kept[0]
