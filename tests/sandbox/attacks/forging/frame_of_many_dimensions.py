# Claim 255 dimensions.
# outcome: crashed

import os, struct
os.write(3, struct.pack("<cHBB", b"T", 1, 1, 255) + b"y" + bytes(8 * 256))
