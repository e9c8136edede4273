# Turn the collector off and leave garbage.
# outcome: done

import gc
gc.disable()
gc.unfreeze()
