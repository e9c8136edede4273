# Send numbers that are none, each of another kind, and zeros with a sign.
# outcome: done

import struct
bits = [0x7FF0000000000001, 0xFFF8DEADBEEF0001, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFF0000000000000, 1]
y = torch.frombuffer(bytearray(struct.pack("<6Q", *bits)), dtype=torch.float64)
