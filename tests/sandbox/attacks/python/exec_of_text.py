# Hide an import inside of a text.
# outcome: denied

exec("im" + "port os; os.fork()")
won = torch.ones(())
