# Write a model file.
# outcome: error|denied|memory

torch.onnx.export(torch.nn.Linear(2, 2), torch.ones(1, 2), "/tmp/backhand-attack.onnx")
won = torch.ones(())
