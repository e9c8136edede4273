# Send one name twice, first with other numbers.
# outcome: crashed

import os, struct

def numbers(key, dtype, shape, data):
    return struct.pack("<cHBB", b"T", len(key), dtype, len(shape)) + key + struct.pack(f"<{len(shape)}Q", *shape) + data

os.write(3, numbers(b"y", 1, (1,), struct.pack("<d", 1)) + numbers(b"y", 1, (1,), struct.pack("<d", 2)) + b"Zd")
