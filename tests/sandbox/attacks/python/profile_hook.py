# Run code inside of every call of the harness.
# outcome: done|error|crashed|timeout

import sys
def spy(frame, event, argument):
    if event == "call":
        raise KeyboardInterrupt
sys.setprofile(spy)
