# Catch signals.
# outcome: denied|error

import signal
signal.signal(signal.SIGTERM, print)
won = torch.ones(())
