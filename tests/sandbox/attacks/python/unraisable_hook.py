# Take over the hook for errors that nobody catches.
# outcome: done|error

import sys
sys.unraisablehook = sys.excepthook = lambda *a: open("/etc/passwd")
1 / 0
