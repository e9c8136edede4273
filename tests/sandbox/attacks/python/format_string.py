# Walk attributes inside of a format string to read an environment.
# outcome: done|error

text = "{0.__class__.__init__.__globals__}".format(torch.nn.Module())
if "PATH=" in text or "SECRET" in text:
    won = torch.ones(())
