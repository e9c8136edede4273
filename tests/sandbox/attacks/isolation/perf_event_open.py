# Watch the processor's counters.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(298, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
