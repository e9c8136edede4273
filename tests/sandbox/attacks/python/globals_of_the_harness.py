# Replace the names that the harness is about to use.
# outcome: crashed|done|error

from app.sandbox import harness
for name in ('frames', 'os', 'traceback', '_write', 'torch', 'ctypes'):
    setattr(harness, name, None)
y = torch.ones(3)
