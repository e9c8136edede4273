# Send a tensor that is only a wrapper of another.
# outcome: crashed|done|error

y = torch._to_functional_tensor(torch.ones(3))
