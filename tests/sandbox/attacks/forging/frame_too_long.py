# Claim a tensor of 2^60 numbers.
# outcome: crashed

import os, struct
os.write(3, struct.pack("<cHBB", b"T", 1, 1, 1) + b"y" + struct.pack("<Q", 2**60))
