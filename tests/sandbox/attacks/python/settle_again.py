# Arrange memory once more, with the zygote's own function.
# outcome: error|denied|memory

from app.sandbox import pages
pages.settle(lambda: None)
won = torch.ones(())
