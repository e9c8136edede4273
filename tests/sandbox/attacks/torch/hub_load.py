# Fetch code from the network.
# outcome: error|denied

torch.hub.load("pytorch/vision", "resnet18")
won = torch.ones(())
