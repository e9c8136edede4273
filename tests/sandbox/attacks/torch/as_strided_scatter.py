# Write beyond the end of a tensor by a view that lies.
# outcome: error

torch.as_strided_scatter(x, torch.ones(100, dtype=x.dtype), (100,), (1,), 0)
won = torch.ones(())
