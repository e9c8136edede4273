# Write a name in mathematical letters, which Python reads as plain ones.
# outcome: error

𝐨𝐩𝐞𝐧("/etc/passwd").read()
won = torch.ones(())
