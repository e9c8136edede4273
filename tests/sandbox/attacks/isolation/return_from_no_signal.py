# Return from a signal that never came, into registers of its own making.
# outcome: crashed|denied
# machine: x86_64

import ctypes
stack = (ctypes.c_ulong * 200)()
ctypes.CDLL(None).syscall(15, *stack[:5])
won = torch.ones(())
