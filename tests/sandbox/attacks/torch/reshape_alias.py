# Look beyond the end by a view that nobody checks.
# outcome: crashed|error|done|timeout|memory|denied

y = torch.ops.aten._reshape_alias(torch.ones(4), [10**6], [10**4]).sum()
