# Raise what an except Exception does not catch.
# outcome: error

raise KeyboardInterrupt
