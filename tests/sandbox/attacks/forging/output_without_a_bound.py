# Lift the bound on what may be sent.
# outcome: flood|memory

import sys
frame = sys._getframe()
while frame:
    for value in list(frame.f_locals.values()):
        if type(value).__name__ == "Output":
            value._output_bytes = 10**15
    frame = frame.f_back
y = torch.ones(1, dtype=torch.uint8).expand(2**26)
