# Connect to the web server beside it.
# outcome: denied

import socket
socket.create_connection(("127.0.0.1", 8000), 1)
won = torch.ones(())
