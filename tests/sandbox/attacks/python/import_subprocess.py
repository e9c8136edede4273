# Start a program.
# outcome: error|denied

import subprocess
subprocess.run(["id"], check=True)
won = torch.ones(())
