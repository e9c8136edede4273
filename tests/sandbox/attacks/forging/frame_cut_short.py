# Write half of a frame.
# outcome: crashed

import os
os.write(3, b"T\x05\0")
os._exit(0)
