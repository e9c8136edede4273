# Send a tensor of 64 sides of which one is zero.
# outcome: done|crashed

import os, struct

def numbers(key, dtype, shape, data):
    return struct.pack("<cHBB", b"T", len(key), dtype, len(shape)) + key + struct.pack(f"<{len(shape)}Q", *shape) + data

os.write(3, numbers(b"z", 1, (0,) + (1,) * 63, b""))
