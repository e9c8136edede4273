# Interrupt the main thread as a terminal would.
# outcome: error|done|denied

import _thread
_thread.interrupt_main()
for _ in range(1000):
    pass
