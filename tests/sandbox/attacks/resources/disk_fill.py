# Fill the disk by a temporary file.
# outcome: error

import tempfile
tempfile.TemporaryFile().write(b"x" * 10**9)
won = torch.ones(())
