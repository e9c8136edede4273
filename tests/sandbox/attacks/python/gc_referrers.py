# Reach frozen objects through referrers.
# outcome: error|denied|done

import gc, socket
for one in gc.get_referrers(socket.socket):
    if isinstance(one, socket.socket):
        one.send(b"x")
        won = torch.ones(())
