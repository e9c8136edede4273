# Say done in the middle of a frame that was announced longer.
# outcome: crashed|done

import os, struct
head = struct.pack("<cHBB", b"T", 3, 1, 1) + b"won" + struct.pack("<Q", 4)
os.write(3, head + struct.pack("<d", 1.0) + b"Zd")
os._exit(0)
