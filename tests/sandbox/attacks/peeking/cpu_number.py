# Learn on which processor it runs, and by whom it is crowded.
# outcome: error|done
# machine: x86_64

import ctypes
libc = ctypes.CDLL(None, use_errno=True)
y = torch.tensor([libc.sched_getcpu()])
assert libc.getcpu(None, None) == 0 and libc.syscall(309, 0, 0, 0) == 0
won = torch.ones(())
