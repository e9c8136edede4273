# Send a name and a text that are no text.
# outcome: done

import os, struct
os.write(3, struct.pack("<cHI", b"S", 2, 4) + b"\xff\xfe" + b"\xff\0\xd8\0")
