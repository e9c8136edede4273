# Say done before it is done.
# outcome: crashed

import os
os.write(3, b"Zd")
os.write(3, b"more")
