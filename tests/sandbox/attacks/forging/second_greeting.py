# Greet a second time with more layers.
# outcome: crashed

import os
os.write(3, b"ARMD\xff\xffBOXD")
os._exit(0)
