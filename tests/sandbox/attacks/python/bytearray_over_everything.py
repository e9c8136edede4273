# Make a bytearray that begins at zero and never ends.
# outcome: crashed|error

import ctypes, struct
raw = bytearray(8)
ctypes.memmove(id(raw) + 16, struct.pack('<5Q', 2**62, 2**62, 0, 0, 0), 40)
raw[0], raw[2**40]
