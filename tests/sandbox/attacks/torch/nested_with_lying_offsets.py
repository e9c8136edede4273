# Read rows of a nested tensor that lie outside of its buffer.
# outcome: crashed|error|done|timeout|memory|denied

bad = torch._nested_view_from_buffer(torch.ones(4), torch.tensor([[10**6]]), torch.tensor([[1]]), torch.tensor([10**7]))
y = bad.unbind()[0].sum()
