# Look for other devices.
# outcome: error|denied|crashed

torch.ones(3).cuda()
won = torch.ones(())
