# Fetch a file from the network.
# outcome: error|denied

torch.hub.download_url_to_file("http://127.0.0.1/x", "/tmp/x")
won = torch.ones(())
