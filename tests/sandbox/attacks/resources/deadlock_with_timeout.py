# Wait for a lock for a minute.
# outcome: timeout

import threading
lock = threading.Lock()
lock.acquire()
lock.acquire(timeout=60)
