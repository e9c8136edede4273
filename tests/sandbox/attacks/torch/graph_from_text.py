# Run a graph that was written as a text.
# outcome: error|denied|done|crashed|memory

graph = torch._C.parse_ir('graph(%a : str):\n  %b : int = prim::Constant[value=1]()\n  %c : NoneType = prim::Print(%a)\n  return (%b)')
run = torch._C._create_function_from_graph('f', graph)
run('x')
