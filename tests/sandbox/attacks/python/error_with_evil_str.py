# An exception whose text cannot be made.
# outcome: done|error|crashed

class Evil(Exception):
    def __str__(self):
        while True:
            raise self
raise Evil
