# A large outer product.
# outcome: memory
# gate: passes

y = torch.outer(torch.ones(10**5), torch.ones(10**5))
won = torch.ones(())
