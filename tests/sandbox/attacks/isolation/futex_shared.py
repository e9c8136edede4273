# Wake whoever waits at a page of a library that every process has mapped.
# outcome: denied
# machine: x86_64

import ctypes
libc = ctypes.CDLL(None)
place = ctypes.cast(libc.puts, ctypes.c_void_p).value & ~3
assert libc.syscall(202, ctypes.c_void_p(place), 1, 2**31 - 1, None, None, 0) >= 0
won = torch.ones(())
