# Give itself a rule in a ruleset.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(445, 0, 0, 0, 0, 0, 0)
won = torch.ones(())
