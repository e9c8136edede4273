# Start a program below subprocess.
# outcome: denied|error

import _posixsubprocess
_posixsubprocess.fork_exec([b"/bin/true"], [b"/bin/true"], True, (), None, None, -1, -1, -1, -1, -1, -1, 3, 4, False, False, 0, None, None, None, -1, None, False)
won = torch.ones(())
