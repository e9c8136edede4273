# Search every object of the process for a socket and write to it.
# outcome: error|done|denied

import gc, socket
for one in gc.get_objects():
    if isinstance(one, socket.socket) and one.fileno() >= 0:
        one.send(b"bare")
        won = torch.ones(())
