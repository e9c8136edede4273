# Send a tensor whose numbers stand negated in memory.
# outcome: done|error

y = torch._neg_view(torch.ones(3))
