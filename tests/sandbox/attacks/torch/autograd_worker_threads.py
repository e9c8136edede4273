# Have the backward pass start its own threads.
# outcome: done|denied|error

torch._C._set_autograd_fallback_mode("nothing")
w = torch.ones(3, requires_grad=True)
torch._C._autograd._enable_record_function(True)
(w * 2).sum().backward()
