# Lay a tensor over an object that must not change, and change it.
# outcome: done|crashed|error

import ctypes
fixed = (1, 2, 3)
view = torch.frombuffer((ctypes.c_ubyte * 48).from_address(id(fixed)), dtype=torch.int64)
view[2] = 10**12
hash(fixed), len(fixed)
y = torch.tensor(fixed[:1])
