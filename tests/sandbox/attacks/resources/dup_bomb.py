# Copy the result pipe without end.
# outcome: denied|error

import os
while True:
    os.dup(3)
