# Exchange a tensor's body for one of another kind.
# outcome: error|done|crashed

y = torch.ones(3)
torch._C._swap_tensor_impl(y, torch.ones(3, device='meta'))
