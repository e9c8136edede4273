# Make the code of torch writable, change it and run it.
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

size = 2**27
for place in range(code, code + size, 2**21):
    if libc.mprotect(ctypes.c_void_p(place), ctypes.c_size_t(2**21), 3) == 0:
        ctypes.memset(place, 0xC3, 2**21)
y = torch.tanh(x @ x).softmax(0).cumsum(0)
won = torch.ones(())
