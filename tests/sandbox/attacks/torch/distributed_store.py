# Listen on a port.
# outcome: error|denied|memory

torch.distributed.TCPStore("127.0.0.1", 29502, 1, True)
won = torch.ones(())
