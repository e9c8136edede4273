# Name a dtype that does not exist.
# outcome: crashed

import os, struct
os.write(3, struct.pack("<cHBB", b"T", 1, 77, 0) + b"y" + bytes(8))
