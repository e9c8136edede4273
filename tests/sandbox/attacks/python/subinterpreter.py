# Run code in an interpreter of its own.
# outcome: error|done|denied|crashed|memory

import _xxsubinterpreters as interpreters
one = interpreters.create()
interpreters.run_string(one, "import os; os.write(3, b'forged')")
