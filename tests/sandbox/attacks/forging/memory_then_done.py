# Claim that memory ran out, and be done as well.
# outcome: memory|crashed

import os
os.write(3, b"Zm")
os.write(3, b"Zd")
