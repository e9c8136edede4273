# Wait for input that never comes.
# outcome: error|done
# gate: passes

text = input()
won = torch.ones(())
