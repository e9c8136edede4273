# Claim a shape whose product overflows.
# outcome: crashed

import os, struct
os.write(3, struct.pack("<cHBB", b"T", 1, 1, 4) + b"y" + struct.pack("<4Q", 2**63, 2**63, 2, 2))
