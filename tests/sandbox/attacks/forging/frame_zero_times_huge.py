# Claim an empty tensor with a huge side.
# outcome: crashed

import os, struct
os.write(3, struct.pack("<cHBB", b"T", 1, 1, 2) + b"y" + struct.pack("<2Q", 0, 2**62))
