# Make a semaphore that outlives the process.
# outcome: denied

import ctypes
ctypes.CDLL(None).semget(0x6261, 1, 0o1666)
won = torch.ones(())
