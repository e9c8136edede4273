# Shrink a storage under views that go on reading.
# outcome: error|done|crashed

a = torch.ones(10**6)
views = [a[n:] for n in range(0, 10**6, 10**5)]
a.untyped_storage().resize_(8)
b = torch.full((10**6,), 7.0)
y = torch.stack([view[-1] for view in views])
