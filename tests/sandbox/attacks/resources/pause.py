# Wait for a signal.
# outcome: denied|error

import signal
signal.pause()
won = torch.ones(())
