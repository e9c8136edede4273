# Learn where it is.
# outcome: error|done|denied

import socket
name = socket.gethostname()
won = torch.ones(())
