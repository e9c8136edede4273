# Make its own data executable.
# outcome: denied

import ctypes
libc = ctypes.CDLL(None)
page = ctypes.create_string_buffer(b"\xc3" * 8192)
start = (ctypes.addressof(page) + 4095) & ~4095
libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(4096), 7)
won = torch.ones(())
