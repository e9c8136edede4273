# Send booleans that are neither true nor false.
# outcome: done|crashed

import os, struct
os.write(3, struct.pack("<cHBB", b"T", 1, 4, 1) + b"b" + struct.pack("<Q", 3) + b"\x02\xff\x00")
