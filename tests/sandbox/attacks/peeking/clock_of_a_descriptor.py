# Read the clock of a device by a descriptor.
# outcome: done

import ctypes
libc = ctypes.CDLL(None)
spec = (ctypes.c_long * 2)()
for descriptor in range(64):
    if libc.clock_gettime(ctypes.c_int(~descriptor << 3 | 3), spec) == 0:
        won = torch.ones(())
