# Ask by the C library for the clock of the process above.
# outcome: done|error|denied

import ctypes
libc = ctypes.CDLL(None)
clock, spec = ctypes.c_int(), (ctypes.c_long * 2)()
for pid in range(2, 5000):
    if libc.clock_getcpuclockid(pid, ctypes.byref(clock)) == 0 and libc.clock_gettime(clock, spec) == 0:
        won = torch.ones(())
