# Send numbers under the name under which the driver sends its error.
# outcome: crashed

import os, struct

def numbers(key, dtype, shape, data):
    return struct.pack("<cHBB", b"T", len(key), dtype, len(shape)) + key + struct.pack(f"<{len(shape)}Q", *shape) + data

os.write(3, numbers(b"error", 1, (), struct.pack("<d", 1)))
raise ValueError("and now the error")
