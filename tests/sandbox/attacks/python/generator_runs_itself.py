# Run a generator from inside of itself, and its frame after it ended.
# outcome: error|done|crashed

def steps():
    yield next(one)
one = steps()
next(one)
