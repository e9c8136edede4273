# Have a traceback written later, by a thread.
# outcome: denied|error

import faulthandler
faulthandler.dump_traceback_later(1, file=3)
won = torch.ones(())
