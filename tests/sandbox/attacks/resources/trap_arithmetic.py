# Have the processor trap where arithmetic has no result.
# outcome: crashed|done|error

import ctypes
ctypes.CDLL("libm.so.6").feenableexcept(0x3D)
y = torch.zeros(3) / torch.zeros(3)
