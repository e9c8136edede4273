# Send texts that move the cursor, rename the window, ring and turn the line around.
# outcome: done

import os, struct

def text(key, value):
    return struct.pack("<cHI", b"S", len(key), len(value)) + key + value

for place, value in enumerate((b"\x1b[2J\x1b[1;1H", b"\x1b]0;owned\x07", b"\x9b31m", "\u202e\u2066".encode(),
                               b"\x1bP+q\x1b\\", b"\r\nLevel: error", b"\0", b"\x08" * 99, "\ufeff\u2028".encode())):
    os.write(3, text(b"%d" % place + value, value))
