# Turn a tensor into an array.
# outcome: error

x.numpy()
won = torch.ones(())
