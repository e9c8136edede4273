# Ask what the page cache holds of a file.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(451, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
