# A program that makes the compiler work.
# outcome: timeout|memory|error

exec("x = " + "+".join(["(1,) * 10**6"] * 4000))
won = torch.ones(())
