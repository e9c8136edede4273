# Change the inputs, in case the next run gets the same memory.
# outcome: done
# gate: passes

x.fill_(float("nan"))
