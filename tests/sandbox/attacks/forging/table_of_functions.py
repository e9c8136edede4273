# Put another function where the interpreter looks up write.
# outcome: crashed|done|error
# machine: x86_64

import ctypes, struct
libc = ctypes.CDLL(None)
word = lambda place: int.from_bytes(ctypes.string_at(place, 8), "little")
link = libc._handle
while link:
    base, name, dynamic, link = struct.unpack("4Q", ctypes.string_at(link, 32))
    if b"libpython" in ctypes.string_at(name):
        break
tags = {}
while word(dynamic):
    tags[word(dynamic)] = word(dynamic + 8)
    dynamic += 16
there = lambda tag: tags[tag] if tags[tag] > base else base + tags[tag]
for table, size in ((23, 2), (7, 8)):
    for place in range(there(table), there(table) + tags[size], 24):
        where, symbol = word(place), word(place + 8) >> 32
        if symbol and ctypes.string_at(there(5) + (word(there(6) + 24 * symbol) & 0xFFFFFFFF)) == b"write":
            page = base + where & ~4095
            if libc.mprotect(ctypes.c_void_p(page), 8192, 3) == 0:
                ctypes.memmove(base + where, struct.pack("<Q", ctypes.cast(libc.abs, ctypes.c_void_p).value), 8)
y = torch.ones(3)
