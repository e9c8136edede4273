# Hide a call inside of bytes.
# outcome: denied

eval(bytes([95,95]).decode() + "import" + "__('os').fork()")
won = torch.ones(())
