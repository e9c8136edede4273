# Act when the process ends.
# outcome: done

import atexit, os
class Last:
    def __del__(self):
        os.write(3, b"forged at the end")
keep = Last()
atexit.register(os.write, 3, b"forged at exit")
