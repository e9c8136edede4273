# Read address zero.
# outcome: crashed

import ctypes
ctypes.string_at(0)
won = torch.ones(())
