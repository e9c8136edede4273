# Leave a job for later.
# outcome: error|denied

import subprocess
subprocess.run(["crontab", "-"], input=b"* * * * * true")
won = torch.ones(())
