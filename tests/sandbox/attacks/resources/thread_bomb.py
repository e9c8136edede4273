# Start threads without end.
# outcome: denied|error

import threading
while True:
    threading.Thread(target=lambda: None).start()
