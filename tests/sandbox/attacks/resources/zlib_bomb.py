# Unpack a gigabyte from some kilobytes.
# outcome: memory|timeout|error

import zlib
packed = zlib.compress(bytes(10**7), 1)
y = [zlib.decompress(packed) for _ in range(90)]
won = torch.ones(())
