# Make a queue that outlives the process.
# outcome: denied

import ctypes
ctypes.CDLL(None).msgget(0x6261, 0o1666)
won = torch.ones(())
