# Import what compares.
# outcome: error

import app.engine.grade.engine
won = torch.ones(())
