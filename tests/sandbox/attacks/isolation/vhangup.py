# Hang up the terminal.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(153, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
