# Make a message queue.
# outcome: denied
# machine: x86_64

import ctypes
ctypes.CDLL(None).syscall(240, b"backhand", 0o102, 0o666, 0)
won = torch.ones(())
