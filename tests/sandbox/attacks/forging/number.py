# Send a number.
# outcome: done
# gate: passes

won = 1.0
