# Reach autograd's engine for a thread.
# outcome: done|error|denied

w = torch.ones(3, requires_grad=True)
with torch.autograd.detect_anomaly(check_nan=True):
    (w * 2).sum().backward()
