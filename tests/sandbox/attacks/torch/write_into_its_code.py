# Write into the code of torch, which lies in memory of the zygote's own.
# outcome: crashed
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

for place in range(code, code + 2**27, 2**21):
    ctypes.memset(place, 0xC3, 1)
    won = torch.ones(())
