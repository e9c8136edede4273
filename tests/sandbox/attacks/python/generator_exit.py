# Raise GeneratorExit.
# outcome: error

raise GeneratorExit
