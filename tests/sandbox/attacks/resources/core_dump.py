# Leave a core file.
# outcome: crashed

import ctypes
ctypes.CDLL(None).prctl
ctypes.string_at(1)
won = torch.ones(())
