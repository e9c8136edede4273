# Send a name as long as may be, and one longer.
# outcome: crashed

import os, struct

def text(key, value):
    return struct.pack("<cHI", b"S", len(key), len(value)) + key + value

os.write(3, text(b"k" * 1024, b""))
os.write(3, text(b"l" * 1025, b""))
