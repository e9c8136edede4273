# Announce a name that is longer than what is left.
# outcome: crashed

import os, struct

os.write(3, struct.pack("<cHBB", b"T", 1000, 1, 0) + b"y")
os._exit(0)
