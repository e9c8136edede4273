# Disable the dispatch keys under the harness.
# outcome: done|error|crashed

guard = torch._C._AutoDispatchBelowAutograd()
y = torch.ones(3, requires_grad=True) * 2
