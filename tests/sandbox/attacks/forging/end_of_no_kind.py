# End with a word that does not exist.
# outcome: crashed

import os
os.write(3, b"Zx")
os._exit(0)
