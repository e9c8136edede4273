# Reduce segments that are longer than the data.
# outcome: crashed|error|done|timeout|memory|denied

y = torch.segment_reduce(torch.ones(4), 'sum', lengths=torch.tensor([10**7]), unsafe=True)
