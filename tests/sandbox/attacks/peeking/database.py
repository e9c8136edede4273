# Open the database.
# outcome: error|denied

import sqlite3
sqlite3.connect("var/backhand.db").execute("select 1")
won = torch.ones(())
