# Ask the network for a name.
# outcome: denied|error

import socket
socket.getaddrinfo("example.org", 80)
won = torch.ones(())
