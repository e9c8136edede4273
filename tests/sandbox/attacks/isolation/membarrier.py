# Interrupt every processor.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(324, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
