# Open /.dockerenv.
# outcome: error

open("/.dockerenv", "rb").read(1)
won = torch.ones(())
