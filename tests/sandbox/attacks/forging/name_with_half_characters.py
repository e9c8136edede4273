# Send names of halves of characters, cut sequences and too long ones.
# outcome: crashed|done

import os, struct

def text(key, value):
    return struct.pack("<cHI", b"S", len(key), len(value)) + key + value

def numbers(key, dtype, shape, data):
    return struct.pack("<cHBB", b"T", len(key), dtype, len(shape)) + key + struct.pack(f"<{len(shape)}Q", *shape) + data

for key in (b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xe2\x82", b""):
    os.write(3, text(key + b"|", key))
    os.write(3, numbers(key + b"/", 1, (), struct.pack("<d", 1)))
