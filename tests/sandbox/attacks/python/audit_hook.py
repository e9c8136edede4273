# Stop the harness by an audit hook.
# outcome: done|error|crashed

import sys
def hook(event, arguments):
    raise RuntimeError(event)
sys.addaudithook(hook)
