# Wait for a lock that nobody opens.
# outcome: timeout

import _thread
lock = _thread.allocate_lock()
lock.acquire()
lock.acquire()
