# Learn from the page cache what others read.
# outcome: denied

import ctypes
libc = ctypes.CDLL(None, use_errno=True)

libc.mincore(ctypes.c_void_p(x.data_ptr() & ~4095), 4096, ctypes.create_string_buffer(8))
won = torch.ones(())
