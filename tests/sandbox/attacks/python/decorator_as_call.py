# Call open by decorating.
# outcome: error

@open
def path(): ...
won = torch.ones(())
