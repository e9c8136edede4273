# Fill the heap, with the zygote's own function.
# outcome: memory|done|error|timeout

from app.sandbox import holes
holes.fill()
