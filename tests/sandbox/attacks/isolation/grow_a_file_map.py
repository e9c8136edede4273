# Grow the map of a library to read on in its file.
# outcome: error|done
# machine: x86_64

import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
link = libc._handle
base = 0
while link:
    address, name, _, link = struct.unpack("4Q", ctypes.string_at(link, 32))
    if ctypes.string_at(name).endswith(b"libtorch_cpu.so"):
        base = address
code = (base >> 21) + 8 << 21

libc.mremap.restype = ctypes.c_void_p
moved = libc.mremap(ctypes.c_void_p(base), ctypes.c_size_t(4096), ctypes.c_size_t(2**29), 1)
assert moved != 2**64 - 1
won = torch.ones(())
