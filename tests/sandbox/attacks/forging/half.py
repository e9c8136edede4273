# Send half precision.
# outcome: done
# gate: passes

won = torch.ones(3).half()
