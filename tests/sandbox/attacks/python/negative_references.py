# Drop references that it does not hold.
# outcome: crashed|done|error|timeout|memory

import ctypes
for one in (torch, torch.ones, x, {}, Exception):
    for _ in range(50):
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(one))
y = torch.ones(3)
