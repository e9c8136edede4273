# Round upwards from here on.
# outcome: done|error

import ctypes
ctypes.CDLL("libm.so.6").fesetround(0x800)
y = torch.ones(1) / 3
