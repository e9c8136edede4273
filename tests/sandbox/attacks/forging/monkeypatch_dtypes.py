# Announce numbers as others than they are.
# outcome: done|crashed|error

from app.sandbox import harness
harness._DTYPES = {kind: "bool" for kind in (torch.float32, torch.float64, torch.complex128)}
y = torch.ones(3)
