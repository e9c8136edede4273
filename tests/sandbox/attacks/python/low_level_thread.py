# Start a thread by the lowest module.
# outcome: denied|error

import _thread
_thread.start_new_thread(print, ())
won = torch.ones(())
