# Send eight-bit floats.
# outcome: done|error

won = torch.ones(3).to(torch.float8_e4m3fn)
