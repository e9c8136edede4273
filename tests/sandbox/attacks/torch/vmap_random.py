# Go through functorch.
# outcome: done|error|denied|memory

y = torch.func.vmap(lambda v: v * 2)(torch.ones(3))
