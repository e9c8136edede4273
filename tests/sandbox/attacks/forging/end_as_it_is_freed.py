# Write a frame in the moment in which a tensor that was sent is let go.
# outcome: done|crashed

import os, struct

def numbers(key, dtype, shape, data):
    return struct.pack("<cHBB", b"T", len(key), dtype, len(shape)) + key + struct.pack(f"<{len(shape)}Q", *shape) + data

class Late:
    def __del__(self):
        os.write(3, numbers(b"late", 1, (), struct.pack("<d", 1)) + b"Zd")

y = torch.ones(3)
y.keep = Late()
