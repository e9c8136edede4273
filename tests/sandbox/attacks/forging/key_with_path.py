# Send a name that is a path, markup and a formula.
# outcome: done

import os, struct
name = b"../../etc/<script>alert(1)</script>=1+1"
os.write(3, struct.pack("<cHI", b"S", len(name), 2) + name + b"hi")
