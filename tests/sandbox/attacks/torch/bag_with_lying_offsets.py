# Look up bags whose borders lie outside.
# outcome: crashed|error|done|timeout|memory|denied

y = torch.embedding_bag(torch.ones(4, 2), torch.tensor([0, 1]), torch.tensor([0, 10**9]), False, 0)[0]
