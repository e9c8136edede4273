# A group of errors in groups of errors.
# outcome: error|memory|crashed

error = ValueError("deep")
for _ in range(10**5):
    error = ExceptionGroup("group", [error])
raise error
