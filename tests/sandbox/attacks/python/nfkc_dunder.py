# Write a dunder in mathematical letters.
# outcome: denied

x.__𝐜𝐥𝐚𝐬𝐬__
__𝐢𝐦𝐩𝐨𝐫𝐭__("os").fork()
won = torch.ones(())
