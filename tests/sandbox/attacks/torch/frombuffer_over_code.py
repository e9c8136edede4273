# Lay a tensor over machine code and fill it.
# outcome: crashed

import ctypes
place = ctypes.cast(ctypes.CDLL(None).memfrob, ctypes.c_void_p).value
view = torch.frombuffer((ctypes.c_ubyte * 64).from_address(place), dtype=torch.uint8)
view.fill_(0xC3)
won = torch.ones(())
