# Print an integer of a million digits.
# outcome: error|timeout
# gate: passes

text = str(10**1000000)
won = torch.ones(())
