# Send a list.
# outcome: done
# gate: passes

won = [1.0, 2.0]
