# Send everything one byte at a time.
# outcome: done

import os, struct

def text(key, value):
    return struct.pack("<cHI", b"S", len(key), len(value)) + key + value

def numbers(key, dtype, shape, data):
    return struct.pack("<cHBB", b"T", len(key), dtype, len(shape)) + key + struct.pack(f"<{len(shape)}Q", *shape) + data

for byte in numbers(b"z", 1, (3,), struct.pack("<3d", 1, 2, 3)) + text(b"a", b"b" * 300):
    os.write(3, bytes([byte]))
