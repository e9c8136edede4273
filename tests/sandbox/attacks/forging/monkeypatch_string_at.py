# Give the harness other bytes than those of memory.
# outcome: crashed|done|error

import ctypes
ctypes.string_at = lambda place, size: b"Zd" * size
y = torch.ones(3)
