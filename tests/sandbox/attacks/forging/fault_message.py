# Claim that the sandbox failed.
# outcome: crashed

import os
os.write(3, b"FALTthe sandbox is broken")
os._exit(1)
