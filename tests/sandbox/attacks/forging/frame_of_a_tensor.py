# Write the frame of a tensor that was not computed.
# outcome: done|crashed

import os, struct
os.write(3, struct.pack("<cHBB", b"T", 6, 1, 1) + b"forged" + struct.pack("<Q", 1) + struct.pack("<d", 1.0))
