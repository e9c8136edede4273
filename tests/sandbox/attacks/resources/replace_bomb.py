# Put a megabyte between all letters of a text.
# outcome: memory|error
# gate: passes

y = ("a" * 10**5).replace("a", "b" * 10**6)
