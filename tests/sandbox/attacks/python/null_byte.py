# A byte of zero in the program.
# outcome: error

exec("x = 1\0")
won = torch.ones(())
