# Arrange memory once more, with the zygote's own function.
# outcome: error|denied|memory

from app.sandbox import huge_pages
huge_pages.settle(lambda: None)
won = torch.ones(())
