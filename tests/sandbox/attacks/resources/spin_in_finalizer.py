# Spin when let go.
# outcome: timeout

class Last:
    def __del__(self):
        while True:
            pass
last = Last()
del last
