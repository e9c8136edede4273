# Save and load in memory with code inside.
# outcome: error|done|denied

import io
buffer = io.BytesIO()
torch.save(lambda: 0, buffer)
won = torch.ones(())
