# Make a shared segment that outlives the process.
# outcome: denied

import ctypes
ctypes.CDLL(None).shmget(0x6261, 4096, 0o1666)
won = torch.ones(())
