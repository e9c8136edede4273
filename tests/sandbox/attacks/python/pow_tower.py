# Compute a tower of powers.
# outcome: timeout|memory|error
# gate: passes

y = 9**9**9**9
won = torch.ones(())
