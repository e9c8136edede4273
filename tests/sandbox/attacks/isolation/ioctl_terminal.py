# Push text into the terminal.
# outcome: error|done

import fcntl, termios
fcntl.ioctl(0, termios.TIOCSTI, b"x")
won = torch.ones(())
