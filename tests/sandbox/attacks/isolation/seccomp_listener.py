# Answer its own calls as a listener of a filter.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(317, 1, 8, 0, 0, 0, 0)
won = torch.ones(())
