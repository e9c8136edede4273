# Change the number seven.
# outcome: done|crashed|error|timeout|memory|denied

import ctypes
number = 7
ctypes.memmove(id(number) + 24, b"\x08\0\0\0", 4)
y = torch.tensor([7, number])
