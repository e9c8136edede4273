# Open descriptors without end.
# outcome: denied|error

import os
while True:
    os.pipe()
