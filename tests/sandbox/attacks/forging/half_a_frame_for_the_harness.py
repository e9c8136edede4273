# Begin a text so that all that the harness says becomes part of it.
# outcome: crashed|done

import os, struct
os.write(3, struct.pack("<cHI", b"S", 1, 200) + b"a")
y = torch.ones(64, dtype=torch.uint8)
