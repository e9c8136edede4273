# Write over the machine code of a library.
# outcome: crashed

import ctypes
place = ctypes.cast(ctypes.CDLL(None).write, ctypes.c_void_p).value
ctypes.memset(place, 0xC3, 64)
won = torch.ones(())
