# A product of fourteen letters.
# outcome: memory|error
# gate: passes

v = torch.ones(9)
y = torch.einsum("a,b,c,d,e,f,g,h,i,j,k,l,m,n->abcdefghijklmn", *[v] * 14)
