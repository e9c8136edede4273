# Say done before it is done: what came until then is taken, and nothing had come.
# outcome: crashed|done

import os
os.write(3, b"Zd")
os.write(3, b"more")
