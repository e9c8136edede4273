# Import from an archive.
# outcome: error

import sys
sys.path.insert(0, '/tmp/backhand-attack.zip')
import backhand_attack
