# Replace code by code of its own, with the zygote's own function.
# outcome: denied|error|crashed

import ctypes
from app.sandbox import kernel
room = bytearray(2**22)
place = ctypes.addressof(ctypes.c_char.from_buffer(room)) + 2**21 & ~(2**21 - 1)
kernel.replace_code([place], 2**21)
won = torch.ones(())
