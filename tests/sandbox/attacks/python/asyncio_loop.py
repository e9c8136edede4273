# Run an event loop.
# outcome: denied|error

import asyncio
asyncio.run(asyncio.sleep(0))
won = torch.ones(())
