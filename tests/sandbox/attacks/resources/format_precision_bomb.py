# A number with a billion digits after the point.
# outcome: memory|error
# gate: passes

y = f"{1.0:.1000000000f}"
