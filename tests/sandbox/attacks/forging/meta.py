# Send a tensor without numbers.
# outcome: done
# gate: passes

won = torch.ones(3, device="meta")
