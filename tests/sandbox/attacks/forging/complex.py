# Send complex numbers.
# outcome: done
# gate: passes

won = torch.ones(3) * 1j
