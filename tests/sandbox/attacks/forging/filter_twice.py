# Say again that the filter is in force.
# outcome: crashed

import os
os.write(3, b"BOXD" * 1000)
