# Import code from a package file.
# outcome: error|denied

from torch.package import PackageImporter
PackageImporter("/tmp/evil.pt")
won = torch.ones(())
