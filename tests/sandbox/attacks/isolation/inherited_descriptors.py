# Write to every descriptor but its own.
# outcome: denied|error

import os
for number in (4, 5, 6, 7, 8, 9, 10, 20, 50, 100):
    os.write(number, b"x")
    won = torch.ones(())
