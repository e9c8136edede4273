# Send nothing.
# outcome: done
# gate: passes

won = None
