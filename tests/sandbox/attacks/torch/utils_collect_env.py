# Run the programs that describe the machine.
# outcome: error|denied

from torch.utils import collect_env
collect_env.get_pretty_env_info()
won = torch.ones(())
