# Say done and leave.
# outcome: done

import os
os.write(3, b"Zd")
os._exit(0)
