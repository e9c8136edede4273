# Fork without end.
# outcome: denied

import os
while True:
    os.fork()
