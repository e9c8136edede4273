# Send numbers whose bytes say again and again that all is done, so that the reader stops early.
# outcome: done

y = torch.frombuffer(bytearray(b"Zd" * 200_000), dtype=torch.uint8).clone()
