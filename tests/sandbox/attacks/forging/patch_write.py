# Send everything twice.
# outcome: crashed|done

import os
honest = os.write
os.write = lambda descriptor, data: honest(descriptor, bytes(data) * 2) // 2
y = torch.ones(3)
