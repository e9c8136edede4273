# Start a thread.
# outcome: denied|error

import threading
threading.Thread(target=print).start()
won = torch.ones(())
