# Write noise.
# outcome: crashed

import os
os.write(3, bytes(range(256)) * 100)
os._exit(0)
