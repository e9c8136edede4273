# Point a tensor beyond its storage.
# outcome: error|done

y = torch.empty(0)
y.set_(x.untyped_storage(), 0, (10**7,), (1,))
