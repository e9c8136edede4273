# Act when the interpreter lets go of an object.
# outcome: done|denied

class Last:
    def __del__(self):
        import os
        os.fork()
        raise SystemExit
last = Last()
del last
