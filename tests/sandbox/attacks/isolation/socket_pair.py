# Make a pair of sockets.
# outcome: denied

import socket
socket.socketpair()
won = torch.ones(())
