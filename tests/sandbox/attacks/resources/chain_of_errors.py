# An error that was caused by an error, a hundred thousand times.
# outcome: error|memory|crashed

error = None
for number in range(10**5):
    new = ValueError(number)
    new.__cause__ = new.__context__ = error
    error = new
raise error
