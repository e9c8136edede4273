# Replace the arithmetic of tensors.
# outcome: done|error

torch.Tensor.__matmul__ = lambda a, b: a * 0
torch.Tensor.tanh = lambda a: a * 0
torch._C._TensorBase.__add__
