# Lie about how many numbers there are.
# outcome: crashed|done|error

torch.Tensor.numel = lambda self: 10**9
torch.Tensor.element_size = lambda self: -1
y = torch.ones(3)
