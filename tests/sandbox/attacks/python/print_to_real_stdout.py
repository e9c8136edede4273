# Write to the streams of the process.
# outcome: error|done

import sys
for stream in (sys.__stdout__, sys.__stderr__):
    stream.write("hello")
    stream.flush()
    won = torch.ones(())
