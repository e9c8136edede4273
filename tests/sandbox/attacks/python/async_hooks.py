# Be called at the first step of every coroutine, and leave one waiting.
# outcome: denied|done|error

import sys
sys.set_asyncgen_hooks(lambda one: None, lambda one: exec('import os\nos.fork()'))
async def never():
    yield 1
one = never().__aiter__().__anext__()
one.close()
del one
