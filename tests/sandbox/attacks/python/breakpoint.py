# Open a debugger.
# outcome: error|denied|done

breakpoint()
