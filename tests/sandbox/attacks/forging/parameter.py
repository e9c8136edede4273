# Send a parameter.
# outcome: done

won = torch.nn.Parameter(torch.ones(3))
