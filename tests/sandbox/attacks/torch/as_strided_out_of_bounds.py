# Look beyond the end of a tensor.
# outcome: error

y = x.as_strided((10**6,), (1,), 0)
won = y.sum()
