# Assign to the one attribute that may be assigned, of all tensors.
# outcome: done|error
# gate: passes

torch.Tensor.data = 5
torch.nn.functional.data = 5
y = torch.ones(2)
