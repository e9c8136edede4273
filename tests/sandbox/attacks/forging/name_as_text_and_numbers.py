# Send one name as a text and as numbers.
# outcome: crashed

import os, struct

def text(key, value):
    return struct.pack("<cHI", b"S", len(key), len(value)) + key + value

def numbers(key, dtype, shape, data):
    return struct.pack("<cHBB", b"T", len(key), dtype, len(shape)) + key + struct.pack(f"<{len(shape)}Q", *shape) + data

os.write(3, text(b"y", b"fine") + numbers(b"y", 1, (), struct.pack("<d", 1)) + b"Zd")
