"""A sentence is said only if it holds of the lines that were written: each row once said something false."""

import pytest

from app.web.verdict_words import headline
from tests.grading.boxes.load import Box, make_forward

QUIET = {"right", "right-other-road", "follows"}


def box(name, dims, inputs, output, source, solution, require):
    return Box(name, make_forward(name, dims, inputs, output, source), tuple(require.split()), solution)


LOOKUP = box(
    "lookup",
    "V: 5, D: 3, N: 9",
    "E: [V, D]; ix: [N] ints(V); w: [N, D]",
    "y",
    "e = E[ix]\ny = e * w",
    "de = dy * w\ndE = torch.zeros_like(E)\ndE.index_add_(0, ix, de)",
    "de dE",
)
BATCH = box(
    "batch",
    "N: 6, D: 4",
    "x: [N, D]; k: [D]",
    "y",
    "mu = x.mean(0)\nxc = x - mu\nvar = (xc ** 2).mean(0)\nistd = (var + 1e-5) ** -0.5\nxhat = xc * istd\ny = xhat * k",
    "dxhat = dy * k\ndx = istd * (dxhat - dxhat.mean(0) - xhat * (dxhat * xhat).mean(0))",
    "dxhat dx",
)
SCORES = box(
    "scores",
    "B: 4, Q: 5, K: 6, D: 7",
    "q: [B, Q, D]; k: [B, K, D]",
    "s",
    's = torch.einsum("bqd,bkd->bqk", q, k)',
    'dq = torch.einsum("bqk,bkd->bqd", ds, k)',
    "dq",
)
BORROWED = box(
    "borrowed",
    "N: 5, H: 4, D: 3",
    "X: [N, D]; W: [D, H]; q: [H]",
    "y",
    "z = X @ W\nw = z + q\ny = torch.tanh(w)",
    "dw = dy * (1 - y ** 2)\ndz = dw\ndq = dw.sum(0)\ndW = X.T @ dz",
    "dw dz dq dW",
)
LAYER = box(
    "layer",
    "N: 6, D: 4",
    "x: [N, D]; w: [D]",
    "y",
    "mu = x.mean(-1, keepdim=True)\nxc = x - mu\nv = (xc ** 2).mean(-1, keepdim=True)\nrstd = (v + 1e-5) ** -0.5\n"
    "norm = xc * rstd\ny = norm * w",
    "dnorm = dy * w\ndx = rstd * (dnorm - dnorm.mean(-1, keepdim=True) - norm * (dnorm * norm).mean(-1, keepdim=True))",
    "dnorm dx",
)
RMS = box(
    "rms",
    "N: 6, D: 4",
    "x: [N, D]",
    "y",
    "ms = (x ** 2).mean(1, keepdim=True)\nr = (ms + 1e-5) ** -0.5\ny = x * r",
    "dx = r * dy - x * r ** 3 * (dy * x).mean(1, keepdim=True)",
    "dx",
)
SHIFTED = box(
    "shifted",
    "N: 6, V: 4",
    "s: [N, V]",
    "lse",
    "m = s.max(1, keepdim=True).values\nlse = m[:, 0] + (s - m).exp().sum(1).log()",
    "ds = F.softmax(s, 1) * dlse[:, None]",
    "ds",
)
NUMBERS = box(
    "numbers",
    "N: 1",
    "a: []; b: []",
    "y",
    "c = a + b\nd = a * b\ny = c * d + a",
    "dc = dy * d\ndd = dy * c\nda = dd * b + dc + dy",
    "dc dd da",
)
FORK = box(
    "fork",
    "N: 1",
    "x: []",
    "L",
    "a = x * x\nb = a + x\nL = a * b",
    "db = dL * a\nda = dL * b + db\ndx = 2 * x * da + db",
    "db da dx",
)
BERNOULLI = box(
    "bernoulli",
    "N: 6",
    "s: [N]; y: [N]",
    "per",
    "p = torch.sigmoid(s)\nper = -(y * torch.log(p) + (1 - y) * torch.log(1 - p))",
    "dp = dper * (-y / p + (1 - y) / (1 - p))",
    "dp",
)
AVERAGE = box(
    "average", "B: 3, T: 4, H: 5", "z: [B, T, H]", "m", "m = z.mean((0, 1))", "dz = dm.expand(B, T, H) / (B * T)", "dz"
)
LENGTHS = box(
    "lengths", "B: 3, T: 4, H: 5", "z: [B, T, H]", "L", "L = ((z ** 2).sum(2)).mean()", "dz = 2 * z / (B * T)", "dz"
)
LINEAR = box(
    "linear",
    "N: 6, D: 4, H: 3",
    "X: [N, D]; W: [D, H]; b: [H]",
    "Y",
    "Y = X @ W + b",
    "db = dY.sum(0)",
    "db",
)
GATES = box(
    "gates",
    "N: 2, C: 4, H: 3, W: 5, R: 2",
    "x: [N, C, H, W]; W1: [C, R]; W2: [R, C]",
    "y",
    "s = x.mean((2, 3))\nz = torch.relu(s @ W1)\ne = z @ W2\ng = torch.sigmoid(e)\ny = x * g[:, :, None, None]",
    "dg = (dy * x).sum((2, 3))\nde = dg * g * (1 - g)\ndW2 = z.T @ de",
    "dg de dW2",
)
SWISH = box("swish", "N: 6", "c: [N]", "y", "s = torch.sigmoid(c)\ny = c * s", "dc = dy * (s + c * s * (1 - s))", "dc")
SMOOTH = box(
    "smooth",
    "N: 9, V: 5",
    "logp: [N, V]; y: [N] ints(V)",
    "L",
    "nll = -logp[torch.arange(N), y]\nsmooth = -logp.mean(1)\nL = (0.9 * nll + 0.1 * smooth).mean()",
    "dnll = torch.full((N,), 0.9 / N)\ndsmooth = torch.full((N,), 0.1 / N)\n"
    "dlogp = (-dsmooth[:, None] / V).expand(N, V).clone()\ndlogp[torch.arange(N), y] -= dnll",
    "dnll dsmooth dlogp",
)
LOG_SIGMOID = box("log-sigmoid", "N: 6", "x: [N]", "y", "y = F.logsigmoid(x)", "dx = dy * torch.sigmoid(-x)", "dx")
STEPS = box(
    "steps",
    "N: 5, D: 4, H: 3",
    "x: [N, D]; A: [D, H]; B: [H, H]; C: [H, D]",
    "y",
    "h1 = torch.tanh(x @ A)\nh2 = torch.tanh(h1 @ B)\nh = torch.stack((h1, h2), 1)\ny = h @ C",
    "dh = dy @ C.T\ndh2 = dh[:, 1]",
    "dh dh2",
)
HEADS = box(
    "heads",
    "B: 2, T: 5, C: 6, n: 3",
    "x: [B, T, C]; W: [C, 3*C]",
    "o",
    "qkv = x @ W\nq, k, v = qkv.split(C, 2)\nqh = q.view(B, T, n, C // n).transpose(1, 2)\n"
    "kh = k.view(B, T, n, C // n).transpose(1, 2)\nvh = v.view(B, T, n, C // n).transpose(1, 2)\n"
    "o = torch.tanh(qh) * torch.tanh(kh) * vh",
    "dvh = do * torch.tanh(qh) * torch.tanh(kh)\ndqh = do * torch.tanh(kh) * vh * (1 - torch.tanh(qh) ** 2)\n"
    "dkh = do * torch.tanh(qh) * vh * (1 - torch.tanh(kh) ** 2)\n"
    "parts = [g.transpose(1, 2).reshape(B, T, C) for g in (dqh, dkh, dvh)]\ndqkv = torch.cat(parts, 2)",
    "dvh dqh dkh dqkv",
)
FUSED = box(
    "fused",
    "m: 7",
    "Z: [m]; Y: [m]",
    "J",
    "A = torch.sigmoid(Z)\nJ = -(Y * torch.log(A) + (1 - Y) * torch.log(1 - A)).sum() / m",
    "dZ = (A - Y) / m",
    "dZ",
)
CATENARY = box(
    "catenary",
    "N: 5",
    "r: [N]",
    "J",
    "c = torch.cosh(r)\nJ = ((c - 1) ** 2).mean()",
    "dr = 2 * (c - 1) * torch.sinh(r) / N",
    "dr",
)
TABLE = box(
    "table",
    "V: 5, D: 3, N: 12",
    "C: [V, D]; ix: [N] ints(V)",
    "e",
    "e = C[ix]",
    "dC = torch.zeros_like(C).index_add_(0, ix, de)",
    "dC",
)
BAG = box(
    "bag",
    "V: 5, D: 3, N: 9, T: 4",
    "C: [V, D]; ix: [N, T] ints(V)",
    "b",
    "e = C[ix]\nb = e.mean(1)",
    "de = db[:, None, :].expand(N, T, D) / T\ndC = torch.zeros_like(C).index_add_(0, ix.view(-1), de.reshape(-1, D))",
    "de dC",
)
CENTRED = box("centred", "N: 6", "x: [N]", "u", "m = x.mean()\nu = x - m", "dx = du - du.mean()", "dx")
RELU = box("relu", "N: 6, D: 4", "x: [N, D]", "y", "y = torch.relu(x)", "dx = dy * (x > 0)", "dx")
MINUS_MEAN = box(
    "minus-mean",
    "N: 6, D: 4",
    "x: [N, D]",
    "diff",
    "mean = x.mean(0, keepdim=True)\ndiff = x - mean",
    "dmean = -ddiff.sum(0, keepdim=True)",
    "dmean",
)
PRODUCT = box("product", "N: 1", "a: []; b: []", "y", "y = a * b", "da = dy * b", "da")
POOL = box(
    "pool",
    "N: 4, M: 3, P: 2",
    "x: [N, M*P]",
    "y",
    "blocks = x.reshape(N, M, P)\ny = blocks.max(2).values",
    "dx = (F.one_hot(blocks.argmax(2), P) * dy[:, :, None]).reshape(N, M * P)",
    "dx",
)
INVERSE = box(
    "inverse",
    "D: 4",
    "v: [D] positive",
    "inv",
    "inv = (v + 1e-5) ** -0.5",
    "dv = -0.5 * (v + 1e-5) ** -1.5 * dinv",
    "dv",
)
DEVIATION = box(
    "deviation",
    "N: 6, D: 4",
    "x: [N, D]; b: [D]",
    "y",
    "v = x.var(0)\ni = (v + 1e-5) ** -0.5\ny = i * b",
    "di = dy * b\ndv = -0.5 * (v + 1e-5) ** -1.5 * di",
    "di dv",
)
LARGEST = box(
    "largest",
    "N: 6, D: 4",
    "x: [N, D]",
    "y",
    "y = x.max(1, keepdim=True).values",
    "dx = F.one_hot(x.argmax(1), D) * dy",
    "dx",
)
GELU = box(
    "gelu",
    "N: 6",
    "e: [N]",
    "a",
    "a = 0.5 * e * (1 + torch.erf(e / math.sqrt(2)))",
    "r = math.sqrt(2)\ncdf = 0.5 * (1 + torch.erf(e / r))\npdf = torch.exp(-e ** 2 / 2) / math.sqrt(2 * math.pi)\n"
    "de = da * (cdf + e * pdf)",
    "de",
)
KERNEL = box(
    "kernel",
    "N: 5, M: 4, D: 3",
    "x: [N, D]; z: [M, D]; ell: [] positive",
    "k",
    "d2 = ((x[:, None] - z[None]) ** 2).sum(2)\nk = torch.exp(-d2 / (2 * ell ** 2))",
    "dell = (dk * k * d2).sum() / ell ** 3",
    "dell",
)
MOVING = box("moving", "N: 5", "m: [N]; x: [N]; b: []", "n", "n = b * m + (1 - b) * x", "dx = dn * (1 - b)", "dx")
SLOPES = box(
    "slopes",
    "N: 5, D: 4",
    "x: [N, D]; a: [D]",
    "y",
    "y = torch.where(x > 0, x, a * x)",
    "da = (dy * x * (x <= 0)).sum(0)",
    "da",
)
LIKELY = box(
    "likely",
    "N: 9, V: 5",
    "z: [N, V]; t: [N] ints(V)",
    "loss",
    "lp = F.log_softmax(z, 1)\nloss = -lp[torch.arange(N), t].mean()",
    "dlp = -1.0 / N * dloss * F.one_hot(t, V)",
    "dlp",
)
GRAPH = box(
    "graph",
    "N: 6, D: 4, H: 5",
    "A: [N, N] mask; X: [N, D]; W: [D, H]",
    "Z",
    "Ah = A + torch.eye(N)\nisd = Ah.sum(1) ** -0.5\nS = isd[:, None] * Ah * isd[None, :]\nV = X @ W\nZ = S @ V",
    "dS = dZ @ V.T\ndisd = (dS * Ah * isd[None, :]).sum(1) + (dS * Ah * isd[:, None]).sum(0)",
    "dS disd",
)
DICE = box(
    "dice",
    "B: 6",
    "inter: [B] positive; total: [B] positive",
    "score",
    "score = (2 * inter + 1) / (total + 1)",
    "dtotal = -dscore * (2 * inter + 1) / (total + 1) ** 2",
    "dtotal",
)
INSTANCE = box(
    "instance",
    "N: 4, C: 3, H: 5",
    "x: [N, C, H]",
    "z",
    "m = x.mean(2, keepdim=True)\nv = ((x - m) ** 2).mean(2, keepdim=True)\nz = (x - m) / (v + 1e-5).sqrt()",
    "dx = (dz - dz.mean(2, keepdim=True) - z * (dz * z).mean(2, keepdim=True)) / (v + 1e-5).sqrt()",
    "dx",
)
BALANCE = box(
    "balance",
    "N: 4, M: 5",
    "K: [N, M] positive; a: [N] positive; w: [N, M]",
    "y",
    "u = a / K.sum(1)\ny = u[:, None] * K * w",
    "du = (dy * K * w).sum(1)\ns = -du * a / K.sum(1) ** 2\ndK = dy * u[:, None] * w + s[:, None]",
    "du dK",
)
HINGE = box(
    "hinge",
    "N: 6",
    "near: [N] positive; far: [N] positive",
    "h",
    "h = torch.relu(near - far + 1.0)",
    "dnear = dh * (near - far + 1.0 > 0)\ndfar = -dnear",
    "dnear dfar",
)
LENGTH = box(
    "length",
    "N: 5, M: 6, D: 3",
    "x: [N, D]; z: [M, D]; ell: [] positive; w: [M]",
    "f",
    "d2 = ((x[:, None] - z[None]) ** 2).sum(2)\nk = torch.exp(-0.5 * d2 / ell ** 2)\nf = k @ w",
    "dk = torch.outer(df, w)\ndw = k.T @ df\ndd2 = -0.5 * dk * k / ell ** 2\ndell = (dk * k * d2).sum() / ell ** 3",
    "dk dw dd2 dell",
)
PARTS_OF_LOSS = box(
    "parts-of-loss",
    "N: 5",
    "r: [N]; k: [N]",
    "loss",
    "rec = (r ** 2).sum()\nkl = k.exp().sum()\nloss = rec + kl",
    "drec = dloss\ndkl = dloss",
    "drec dkl",
)
STEPWISE = box(
    "stepwise",
    "N: 5, K: 3",
    "z: [N, K]",
    "p",
    "e = torch.exp(z)\np = e / e.sum(1, keepdim=True)",
    "de = (dp - (dp * p).sum(1, keepdim=True)) / e.sum(1, keepdim=True)",
    "de",
)
HUBER = box(
    "huber",
    "N: 9",
    "r: [N]",
    "y",
    "a = r.abs()\ny = torch.where(a <= 1.0, 0.5 * r ** 2, a - 0.5)",
    "dr = dy * torch.where(a <= 1.0, r, torch.sign(r))",
    "dr",
)
DISTIL = box(
    "distil", "N: 5", "kl: [N]", "loss", "loss = 4.0 * kl.mean()", "dkl = 4.0 * dloss / N * torch.ones_like(kl)", "dkl"
)
TANH_GELU = box(
    "tanh-gelu",
    "N: 6",
    "a: [N]",
    "h",
    "h = 0.5 * a * (1 + torch.tanh(a))",
    "t = torch.tanh(a)\nda = dh * (0.5 * (1 + t) + 0.5 * a * (1 - t ** 2))",
    "da",
)
THRESHOLD = box("threshold", "N: 7", "x: [N]", "y", "y = F.threshold(x, 0.5, 0.0)", "dx = dy * (x > 0.5)", "dx")
UNROLLED = box(
    "unrolled",
    "N: 4, D: 2, H: 3",
    "x1: [N, D]; x2: [N, D]; W: [D, H]; R: [H, H]; b: [H]",
    "h2",
    "h1 = torch.tanh(x1 @ W + b)\nh2 = torch.tanh(x2 @ W + h1 @ R + b)",
    "db = torch.zeros_like(b)\nda2 = dh2 * (1 - h2 ** 2)\nda1 = da2 @ R.T * (1 - h1 ** 2)\n"
    "for da in (da1, da2):\n    db += da.sum(0)",
    "db",
)
README = box(
    "readme",
    "N: 1",
    "a: []; b: []",
    "g",
    "c = a + b\nd = a * b\nd1 = d + torch.relu(b + a)\nd2 = d1 + torch.relu(b - a)\ng = c * d2",
    "dc = dg * d2\ndd2 = dg * c\ndd1 = dd2\ndd = dd1\ndb = dc + dd * a + dd1 * (b + a > 0) + dd2 * (b - a > 0)",
    "dc dd2 dd1 dd db",
)
PICKED = box(
    "picked",
    "N: 5, V: 4, D: 3",
    "z: [N, V]; t: [N] ints(V); E: [V, D]",
    "loss",
    "logp = F.log_softmax(z, 1)\npick = logp[torch.arange(N), t]\np = logp.exp()\n"
    "loss = (p * logp).sum() - pick.sum() + (E[t] ** 2).sum()",
    "dpick = -dloss.expand(N)\ndp = dloss * logp\ndlogp = dp * p + dloss * p\ndlogp[torch.arange(N), t] += dpick\n"
    "dE = torch.zeros_like(E)\ndE.index_add_(0, t, 2 * E[t] * dloss)",
    "dpick dp dlogp dE",
)
JOINED = box(
    "joined",
    "N: 4, P: 3, Q: 5",
    "a: [N, P]; b: [N, Q]",
    "y",
    "y = torch.cat([a, b], 1)",
    "da = dy[:, :P]\ndb = dy[:, P:]",
    "da db",
)
SPREAD = box(
    "spread",
    "n: 6, D: 4",
    "s: [n, D]",
    "v",
    "v = s.sum(0, keepdim=True) / (n - 1)",
    "ds = dv.expand(n, D) / (n - 1)",
    "ds",
)
RENAMED = box(
    "renamed",
    "N: 5, D: 4",
    "X: [N, D]; w: [N, D]; k: [N, D]",
    "r",
    "m = w - X\nu = m + k\nz = torch.tanh(u)\nv = X.logsumexp(1, keepdim=True)\nr = z * v",
    "dz = dr * v\ndu = dz * (1 - z ** 2)\ndm = du\ndX = -dm\ndv = (dr * z).sum(1, keepdim=True)\n"
    "dX += dv * torch.softmax(X, 1)",
    "dz du dm dX dv",
)
MINUS = box("minus", "N: 6", "s: [N]", "loss", "loss = -s.mean()", "ds = -dloss * torch.ones_like(s) / N", "ds")
CLASSES = box(
    "classes",
    "N: 9, V: 5",
    "z: [N, V]; t: [N] ints(V)",
    "loss",
    "e = z.exp()\ns = e.sum(1, keepdim=True)\ninv = s ** -1\np = e * inv\nloss = -p.log()[torch.arange(N), t].mean()",
    "dz = (p - F.one_hot(t, V)) / N * dloss",
    "dz",
)
SCALED = box(
    "scaled",
    "N: 6, D: 4",
    "c: [N, D]; s: [1, D]; v: [D]",
    "y",
    "u = c * s\ny = u * v",
    "du = dy * v\nds = (du * c).sum(0, keepdim=True)\ndv = (dy * u).sum(0)",
    "du ds dv",
)
SQUARED = box(
    "squared",
    "N: 6, D: 4",
    "x: [N, D]; c: [D]",
    "y",
    "u = c * x\nv = x ** 2\ny = u * v",
    "du = dy * v\ndv = dy * u\ndx = du * c + 2 * x * dv",
    "du dv dx",
)
PILE = box(
    "pile",
    "B: 4, T: 6, D: 5, H: 7",
    "X: [B, T, D]; W: [D, H]",
    "Y",
    "Y = X @ W",
    "dW = (X.mT @ dY).sum(0)",
    "dW",
)
BLOCKS = box(
    "blocks",
    "B: 8, H: 3",
    "z: [B, 2 * H]",
    "y",
    "f = torch.sigmoid(z[:, :H])\ng = torch.tanh(z[:, H:])\ny = f * g",
    "df = dy * g\ndg = dy * f\ndz = torch.cat([df * f * (1 - f), dg * (1 - g ** 2)], 1)",
    "df dg dz",
)
SUMMED_EXP = box(
    "summed-exp",
    "N: 5, D: 4",
    "X: [N, D]; w: [N, D]",
    "r",
    "m = w - X\nv = X.logsumexp(1, keepdim=True)\nr = m * v",
    "dm = dr * v\ndv = (dr * m).sum(1, keepdim=True)\ndX = -dm + dv * torch.softmax(X, 1)",
    "dm dv dX",
)
EXTREMES = box(
    "extremes",
    "N: 5, D: 3",
    "z: [N, D]",
    "w",
    "w = z.amax(0, keepdim=True)",
    "dz = F.one_hot(z.argmax(0), N).T * dw",
    "dz",
)
COUNTS = box(
    "counts",
    "N: 5, D: 4",
    "c: [N, D]",
    "p",
    "s = c.sum(1, keepdim=True)\ni = s ** -1\np = c * i",
    "di = (c * dp).sum(1, keepdim=True)\nds = -s ** -2 * di\ndc = i * dp\ndc += ds",
    "di ds dc",
)
VARIED = box("varied", "N: 7, D: 4", "x: [N, D]", "v", "v = x.var(0)", "dx = dv * 2 * (x - x.mean(0)) / (N - 1)", "dx")
CORRECTED = box(
    "corrected",
    "N: 7, D: 4",
    "x: [N, D]",
    "v",
    "v = x.sum(0, keepdim=True) / (N - 1)",
    "dx = torch.ones_like(x) * dv / (N - 1)",
    "dx",
)
DOUBLED = box(
    "doubled",
    "N: 9, V: 5",
    "z: [N, V]; t: [N] ints(V)",
    "L",
    "s = 2 * z\nL = F.cross_entropy(s, t)",
    "ds = (torch.softmax(s, 1) - F.one_hot(t, V)) / N\ndz = 2 * ds",
    "ds dz",
)
CUBED = box("cubed", "N: 1", "x: []", "L", "a = x * x\nb = a + x\nL = a * b", FORK.solution, "dx")
MEANT = box(
    "meant",
    "N: 9, V: 5",
    "P: [N, V]; t: [N] ints(V)",
    "L",
    "v = P[torch.arange(N), t]\nL = -v.mean()",
    "dv = torch.full_like(v, -1 / N)\ndP = F.one_hot(t, V) * dv[:, None]",
    "dv dP",
)
ROWS = [
    # A sentence on the text is said where undoing, there, what it names makes the gradient right.
    (
        GRAPH,
        "disd = (dS * Ah * isd[None, :]).sum(1) + (dS * isd[:, None]).sum(0)",
        "disd:factor-missing",
        ["`dS * isd[:, None]` lacks a factor"],
        ["matrix product"],
    ),
    (DICE, "dtotal = -dscore / (2 * inter + 1) / (total + 1) ** 2", "dtotal:divided:div", ["divides"], ["brackets"]),
    (
        INSTANCE,
        "dx = (dz - dz.mean(2, keepdim=True) - z * (dz + z).mean(2, keepdim=True)) / (v + 1e-5).sqrt()",
        "dx:sum-for-product",
        ["`dz + z` adds"],
        ["uses"],
    ),
    (
        BALANCE,
        "s = -du * a / K.sum(1) ** 3\ndK = dy * u[:, None] * w + s[:, None]",
        "dK:square-extra",
        ["has a higher power"],
        ["quotient, `u`"],
    ),
    (BALANCE, "s = -du * u / K.sum(1) ** 2\ndK = dy * u[:, None] * w + s[:, None]", "dK:output-for-input", ["`u`"], []),
    (HINGE, "dnear = dh * (near - far > 0)", "dnear:operand-changed", ["another expression"], ["A number"]),
    (HINGE, "dnear = dh * (near + 1.0 > 0)", "dnear:gate-open", ["lets through all"], ["changed nothing"]),
    (HINGE, "dfar = 0.5 * -dnear", "dfar:halved", ["exactly half as large"], ["starts from", "Two things"]),
    (HINGE, "dfar = dnear", "dfar:sign", ["the opposite sign"], ["nothing else"]),
    (
        LENGTH,
        "dell = (dk * k * d2).sum()",
        "dell:factor-power:ell:3",
        ["lacks a power of `ell`"],
        ["`ell` stands in"],
    ),
    (PARTS_OF_LOSS, "dkl = rec", "dkl:wrong-upstream:rec", ["starts from `rec`"], ["is scaled by"]),
    (
        STEPWISE,
        "de = (dp - (dp / p).sum(1, keepdim=True)) / e.sum(1, keepdim=True)",
        "de:divided",
        ["`p` is divided by"],
        ["uses `e`"],
    ),
    (
        LENGTH,
        "dell = (dk * k * d2).sum() / ell ** 4",
        "dell:power-changed",
        ["`ell ** 4` has another exponent than the rule"],
        ["not the base", "lacks"],
    ),
    (
        LIKELY,
        "dlp = -F.one_hot(t, V)\ndlp = dloss / N",
        "dlp:overwritten",
        ["`dlp` is replaced"],
        ["everything else is right"],
    ),
    (THRESHOLD, "dx = dy", "dx:copied:dy", ["as if `y = F.threshold(x, 0.5, 0.0)` changed"], ["nothing else that"]),
    (
        UNROLLED,
        UNROLLED.solution.replace("da.sum(0)", "da.mean(0)"),
        "db:mean",
        ["`da.mean(0)` averages where the shares are summed"],
        ["Compare with"],
    ),
    (README, "db = dc + dd * a + dd1 * (b + a > 0)", "db:share-missing:d2", ["through `d2` is missing"], ["A number"]),
    (HUBER, "dr = dy * r", "dr:gate-value", ["The share of `dr` through `a` multiplies by `r`"], []),
    (DISTIL, "dkl = torch.ones_like(kl)", "dkl:factor", ["common factor"], ["holds `dloss`", "no tensor"]),
    (
        TANH_GELU,
        "t = torch.tanh(a)\nda = dh * (0.5 * (1 + t)) + 0.5 * a * (1 - t ** 2)",
        "da:upstream-missing",
        ["the share of `da` through its second place"],
        [],
    ),
    # What a statement writes, or puts into a list or a dictionary, it changes.
    (
        LOOKUP,
        "de = -dy * w\ndE = torch.zeros_like(E)\ndE.index_add_(0, ix, de)",
        "de:sign",
        ["the opposite sign"],
        ["changes nothing"],
    ),
    (
        LOOKUP,
        "g = []\nde = -dy * w\ng.append(de)\ndE = torch.zeros_like(E)\ndE.index_add_(0, ix, de)",
        "de:sign",
        ["the opposite sign"],
        ["changes nothing"],
    ),
    (
        LOOKUP,
        "g = {}\nde = -dy * w\ng.update(e=de)\ndE = torch.zeros_like(E)\ndE.index_add_(0, ix, de)",
        "de:sign",
        ["the opposite sign"],
        ["changes nothing"],
    ),
    # Axes are wrong only where they differ.
    (
        BATCH,
        "dx = istd * (dxhat - dxhat.mean(0))",
        "dx:statistics-constant:var",
        ["holds `var` constant"],
        ["run over"],
    ),
    (
        LAYER,
        "dx = rstd * (dnorm - dnorm.mean(-1, keepdim=True))",
        "dx:statistics-constant:v",
        ["holds `v` constant"],
        ["run over"],
    ),
    (
        RMS,
        "dx = r * (dy - dy.mean(1, keepdim=True))",
        "dx:term-off:ms",
        ["the term `dy.mean(1, keepdim=True)`: in its place belongs the share of `dx` through `ms`"],
        ["run over"],
    ),
    (
        LAYER,
        "dx = rstd * (dnorm - dnorm.mean(-1, keepdim=True) - norm * norm.mean(-1, keepdim=True))",
        "dx:factor-missing",
        ["`norm` in `norm.mean(-1, keepdim=True)` lacks a factor"],
        ["run over", "constant"],
    ),
    # A sign or a factor is no other average.
    (
        BATCH,
        "dx = istd * (dxhat - dxhat.mean(0) + xhat * (dxhat * xhat).mean(0))",
        "dx:term-sign",
        ["the sign of `xhat * (dxhat * xhat).mean(0)` is the opposite"],
        ["added up"],
    ),
    (
        BATCH,
        "dx = istd * (dxhat - dxhat.mean(0) - xc * (dxhat * xhat).mean(0))",
        "dx:wrong-operand:xc",
        ["`xc` is the wrong tensor"],
        ["added up"],
    ),
    (SHIFTED, "ds = -F.softmax(s, 1) * dlse[:, None]", "ds:sign", ["the opposite sign"], ["averaged"]),
    (SHIFTED, "ds = 2 * F.softmax(s, 1) * dlse[:, None]", "ds:doubled", ["exactly twice"], ["averaged"]),
    (
        LAYER,
        "dx = rstd * -(norm * (dnorm * norm).mean(-1, keepdim=True))",
        "dx:unrecognised",
        [],
        ["averaged"],
    ),
    # What is missing is a share.
    (NUMBERS, "da = dd * b + dy", "da:share-missing:c", ["the share through `c` is missing"], ["none of them"]),
    # A share that is missing beside a slip in another one.
    (FORK, "dx = 2 * da", "dx:share-missing:b+local-missing:mul", ["through `b` is missing. In `a = x"], ["another"]),
    (FORK, "dx = 2 * x * db", "dx:share-missing:b+wrong-upstream:db", ["`dx` starts from `db`"], ["another number"]),
    (BERNOULLI, "dp = -y / p + (1 - y) / (1 - p)", "dp:upstream-missing", ["`dper`"], ["through -"]),
    # A factor by what it is.
    (AVERAGE, "dz = dm.expand(B, T, H)", "dz:factor:B*T", ["`B * T` times too large"], ["numel"]),
    (LENGTHS, "dz = 2 * z", "dz:factor:B*T", ["`B * T` times too large"], ["numel"]),
    # A matrix product only where there is one.
    (LINEAR, "db = dY.sum() * torch.ones(H)", "db:summed-all", ["The sum for `db` runs over"], ["matrix product"]),
    (LINEAR, "db = dY.sum().expand(H)", "db:summed-all", ["The sum for `db` runs over"], ["matrix product"]),
    (LINEAR, "db = dY.mean() * torch.ones(H)", "db:mean-wrong-axis", ["The average for `db`"], ["The sum for"]),
    # An axis is no size.
    (GATES, "dW2 = z @ de", "dW2:size-hard-coded", ["line 3 stops", "equal here"], ["`3`", "Take sizes"]),
    # What starts from an equal gradient is as good: only how it is added up is off.
    (BORROWED, "dq = dz.mean(0)", "dq:mean", ["averages over"], ["Two things", "starts from"]),
    (BORROWED, "dq = dz", "dq:not-reduced", ["not yet added up"], ["nothing else"]),
    # A factor is lacking only where one would do.
    (SWISH, "dc = dy", "dc:copied:dy", ["holds `dy` and nothing else"], ["lacks the factor"]),
    (SWISH, "dc = dy * (s + 1 - s)", "dc:copied:dy", ["nothing else that matters"], ["lacks the factor"]),
    (
        BATCH,
        "dx = dxhat - dxhat.mean(0) - xhat * (dxhat * xhat).mean(0)",
        "dx:divided-by:istd",
        ["lacks the factor `istd`"],
        ["xc = x - mu"],
    ),
    # One memory.
    (
        SMOOTH,
        "dlogp = (-dsmooth[:, None] / V).expand(N, V)\ndlogp[torch.arange(N), y] -= dnll",
        "dlogp:expanded",
        ["in line 3, are one memory", "what line 4 writes", "`.clone()`"],
        ["all others are zero"],
    ),
    (
        SMOOTH,
        "dlogp = (-dsmooth[:, None] / V).expand(N, V).clone() - dnll[:, None]",
        "dlogp:dense",
        ["it belongs to the entries that were picked only"],
        ["all others are zero"],
    ),
    (LOG_SIGMOID, "dx = dy * torch.sigmoid(x)", "dx:argument-sign", ["has the opposite sign"], ["one of the terms"]),
    # Which slice, and which exchange of axes.
    (STEPS, "dh2 = dh[:, 0]", "dh2:wrong-part", ["takes another part of `dh`"], ["in the place of all"]),
    (
        HEADS,
        "parts = [g.reshape(B, T, C) for g in (dqh, dkh, dvh)]\ndqkv = torch.cat(parts, 2)",
        "dqkv:permute-skipped",
        ["`qh = q.view(B, T, n, C // n).transpose(1, 2)`, `kh =", "was not undone"],
        ["split"],
    ),
    (
        HEADS,
        (
            "qs, vs = (g.transpose(1, 2) for g in (dqh, dvh))\nparts = [g.reshape(B, T, C) for g in (qs, dkh, vs)]\n"
            "dqkv = torch.cat(parts, 2)"
        ),
        "dqkv:permute-skipped",
        ["`kh = k.view(B, T, n, C // n).transpose(1, 2)` was not undone"],
        ["split", "qh ="],
    ),
    # Where a line skips steps: which, and where the factor is.
    (
        FUSED,
        "dZ = A - Y",
        "dZ:factor:m",
        ["exactly `m` times too large", "takes the step through `A`", "compare with what `J = "],
        ["what `A = "],
    ),
    (
        CATENARY,
        "dr = 2 * (c - 1) * torch.sinh(r)",
        "dr:factor:N",
        ["takes the step through `c`", "compare with what `J = "],
        ["what `c = "],
    ),
    (CATENARY, "dr = 2 * c * torch.sinh(r) / N", "dr:operand-changed", ["reads `c - 1`"], ["small constant"]),
    # Tensors and shares by what was written.
    (CENTRED, "m = x.mean()\ndx = du - m", "dx:wrong-upstream:x", ["share of `dx` through `m`"], ["The rule fits"]),
    (RELU, "dx = dy * torch.sign(x)", "dx:other-rule:abs", ["local derivative of `abs`"], ["everything else is right"]),
    # Nothing is right beside a wrong sign.
    (
        MINUS_MEAN,
        "dmean = ddiff.sum(0)",
        "dmean:keepdim-lost+sign",
        ["the opposite sign", "keepdim=True"],
        ["The numbers are right"],
    ),
    (
        BAG,
        "de = db[:, None, :]\ndC = torch.zeros_like(C)\ndC.index_add_(0, ix.view(-1), de.reshape(-1, D))",
        "de:not-expanded+factor:T",
        ["not yet spread", "exactly `T` times"],
        ["The numbers are right", "changes nothing"],
    ),
    # Of brackets it is told where they are missing, and a line is not written out twice.
    (
        BATCH,
        "dxhat = dy * k\ndx = istd * (dxhat - dxhat.mean(0)) - xhat * (dxhat * xhat).mean(0)",
        "dx:brackets",
        ["the brackets around `dxhat - dxhat.mean(0)` close too early"],
        ["computed first"],
    ),
    (
        BATCH,
        "dxhat = dy * k\ndx = istd * dxhat - dxhat.mean(0) - xhat * (dxhat * xhat).mean(0)",
        "dx:brackets",
        ["the right side lacks brackets, from `dxhat` on: powers"],
        ["`istd * dxhat - dxhat.mean(0) - xhat * (dxhat * xhat).mean(0)` lacks"],
    ),
    # A letter that is there several times is told with its place.
    (
        SCORES,
        'dq = torch.einsum("bqk,bkd->bkd", ds, k)',
        "dq:einsum-letter",
        ["the `k` behind the arrow of 'bqk,bkd->bkd' is another letter"],
        ["one letter"],
    ),
    # Two slips, one of them in the text itself.
    (
        INVERSE,
        "dv = -1/2 * (v + 1e-5)**-1/2 * dinv",
        "dv:brackets",
        ["`(v + 1e-5) ** -1 / 2` lacks brackets", "With them one thing is left. "],
        ["half as large", "minus one"],
    ),
    (INVERSE, "dv = -0.5 * (v + 1e-5)**-3/2 * dinv", "dv:brackets", ["lacks brackets"], ["Two things"]),
    (
        TABLE,
        "dC = torch.zeros_like(C)\nfor i in range(12):\n    for j in range(3):\n        dC[ix[i], j] = de[i, j]",
        "dC:scatter-overwrite",
        ["holds one share only", "Besides, sizes are written out as numbers"],
        [],
    ),
    (
        TABLE,
        "dC = torch.zeros(5, 3)\ndC[ix] = de",
        "dC:scatter-overwrite",
        ["holds one share only", "Besides, it runs on the data of this box but not on others"],
        [],
    ),
    (LARGEST, "dx = dy * (x == x.max(1))", "dx:shape", ["`x.max(1)`, which gives two things", ".values"], []),
    # In the line that was wrong, of what stands in it.
    (
        GELU,
        GELU.solution.replace("cdf = 0.5 * (1 + torch.erf(e / r))", "cdf = (0.5 * (1 + torch.erf(e / r))) ** 2"),
        "de:power-extra",
        ["In `cdf = "],
        ["function"],
    ),
    (
        TABLE,
        "dC = torch.ones_like(C)\ndC = dC.index_add(0, ix, de)",
        "dC:added:1",
        ["without `1`"],
        ["a function of it"],
    ),
    (
        KERNEL,
        "dell = (dk * k * d2).sum()",
        "dell:factor-power:ell:3",
        ["lacks a power of `ell`"],
        ["stands in", "number"],
    ),
    (MOVING, "dx = dn * -b", "dx:term-missing:dn", ["with `dn` added once more"], ["none of them"]),
    (SLOPES, "da = (dy * x * (x > 0)).sum(0)", "da:gate-flipped", ["takes the other side"], ["one of the terms"]),
    (
        LIKELY,
        "dlp = -1.0 / N * loss * F.one_hot(t, V)",
        "dlp:wrong-upstream:loss",
        ["starts from `loss`"],
        ["local derivative of `-`"],
    ),
    (
        POOL,
        "dx = (F.one_hot(blocks.argmin(2), P) * dy[:, :, None]).reshape(N, M * P)",
        "dx:other-extreme",
        ["`blocks.argmin(2)` picks the wrong one of the two extremes"],
        ["minus"],
    ),
    (PRODUCT, "da = 5", "da:fixed", ["If `5` is what `b` was in an example, write `b`"], ["every entry"]),
    (PRODUCT, "da = 1", "da:fixed", ["The upstream gradient, `dy`, is not in it."], ["in an example"]),
    # The end of a slice is a place: no factor mends it.
    (JOINED, "db = dy[:, P:Q]", "db:wrong-part", ["`P:Q` ends at `Q`, which is a length"], ["factor", "division"]),
    # A rule without the factor holds no division by it either.
    (SPREAD, "ds = s * dv / (n - 1)", "ds:factor-extra:s", ["is scaled by `s` once more"], ["division"]),
    # A minus that is there already is not missing, nor is one where a difference stands the wrong way round.
    (MINUS, "ds = -dloss * torch.ones_like(s) / -N", "ds:sign", ["missing or too many"], ["local derivative"]),
    (
        MINUS,
        "ds = dloss * torch.ones_like(s) / N",
        "ds:sign",
        ["Look for a minus in the local derivative"],
        ["too many"],
    ),
    (CLASSES, "dz = (F.one_hot(t, V) - p) / N * dloss", "dz:sign", ["wrong way round"], ["local derivative"]),
    # An exponent that is right is not the slip where it stands behind a `/`.
    (INVERSE, "dv = -0.5 * dinv / (v + 1e-5) ** -1.5", "dv:divided:pow", ["divides where the rule"], ["exponent"]),
    (INVERSE, "dv = -0.5 * (v + 1e-5) ** 1.5 * dinv", "dv:power-sign", ["The exponent in"], ["divides"]),
    # What a sum takes hold of, and what is added.
    (
        SCALED,
        "ds = du * c.sum(0)\ndv = (dy * u).sum(0)",
        "ds:brackets",
        ["`c.sum(0)` is computed first"],
        ["reference"],
    ),
    (
        SCALED,
        "ds = du.sum(0, True) * c\ndv = (dy * u).sum(0)",
        "ds:brackets",
        ["`du.sum(0, True)` is computed first"],
        ["reference"],
    ),
    (SQUARED, "dx = du * c * 2 * x * dv", "dx:product-for-sum", ["is a product where the rule adds"], ["cosine"]),
    (PILE, "dW = X.sum(0).T @ dY.sum(0)", "dW:sums-multiplied", ["multiplies two sums"], ["cosine"]),
    (PILE, "dW = X.reshape(D, -1) @ dY.reshape(-1, H)", "dW:permute-skipped", ["pours the numbers"], ["cosine"]),
    (
        BATCH,
        "dx = istd * (dxhat - dxhat.mean(0) - xhat * dxhat.sum(0) * xhat.sum(0) / N)",
        "dx:sums-multiplied",
        ["`xhat * dxhat.sum(0) * xhat.sum(0)` multiplies two sums"],
        ["constant"],
    ),
    # The axis of a join, and a product that is none of matrices.
    (BLOCKS, "dz = torch.cat([df * f * (1 - f), dg * (1 - g ** 2)])", "dz:wrong-axis", ["`torch.cat` joins"], ["Undo"]),
    (SCALED, "dv = u.T @ dy", "dv:matmul-not-elementwise", ["`*` acts entry by entry"], ["reference"]),
    # What comes to nothing.
    (
        SUMMED_EXP,
        "p = torch.softmax(X, 1)\ndX = -dm + p * (dv - (dv * p).sum(1, True))",
        "dX:share-missing:v",
        ["`p * (dv - (dv * p).sum(1, True))` stands there, and comes to zero on any data"],
        ["constant"],
    ),
    (SUMMED_EXP, "dX = -dm", "dX:share-missing:v", ["the share through `v` is missing."], ["stands there"]),
    (
        SUMMED_EXP,
        "dX = -dm + dv * torch.softmax(X, 0)",
        "dX:softmax-axis",
        ["add up to one along another axis than the one that `v = "],
        ["adds up to one."],
    ),
    # A place in each column, where whole rows are written.
    (
        EXTREMES,
        "dz = torch.zeros_like(z)\ndz[z.argmax(0)] = dw",
        "dz:index-every-row",
        ["each column has one"],
        ["cosine"],
    ),
    # `=+` is a plain assignment, of a part as well.
    (COUNTS, "dc = i * dp\ndc =+ ds", "dc:overwritten", ["`=+` puts a plus", "To add is `+=`."], ["unchanged"]),
    (COUNTS, "dc = i * dp\ndc =+ ds.expand(N, D)", "dc:overwritten", ["`=+` puts a plus"], ["erased"]),
    (COUNTS, "dc = i * dp\ndc[:] =+ ds", "dc:overwritten", ["`=+` puts a plus"], ["share too"]),
    (COUNTS, "dc = i * dp\ndc = ds", "dc:overwritten", ["`dc = ds` replaces"], ["puts a plus"]),
    # Another tensor, or a division for a product, is told before what its numbers come to.
    (
        DEVIATION,
        "dv = -0.5 * (b + 1e-5) ** -1.5 * di",
        "dv:wrong-operand:b",
        ["`b` is the wrong tensor", "without such a power"],
        [],
    ),
    (DEVIATION, "dv = -0.5 * (v - v) ** -1.5 * di", "dv:not-finite", ["without such a power"], ["wrong tensor"]),
    # A formula straight from the forward pass is off as it stands, and lacks no upstream gradient.
    (DOUBLED, "dz = 2 * (torch.softmax(s, 1) - F.one_hot(t, V))", "dz:factor:N", ["exactly `N` times"], ["upstream"]),
    (DOUBLED, "dz = 2 * (F.one_hot(t, V) - torch.softmax(s, 1)) / N", "dz:sign", ["opposite sign"], ["upstream"]),
    (DOUBLED, "dz = 2 * (torch.softmax(s, 1) - F.one_hot(t, V)) / V", "dz:factor:N/V", ["`N/V`"], ["upstream"]),
    (CUBED, "dx = 4 * x ** 3 + 3 * x", "dx:wrong-operand:x", ["`3 * x` is the wrong"], ["upstream"]),
    (MEANT, "dP = torch.full_like(P, -1 / N)", "dP:dense", ["to every entry"], ["upstream"]),
    (MEANT, "dP = F.one_hot(t, V)", "dP:upstream-missing", ["`dv`, is not in `dP`"], []),
    # A tensor is no size.
    (
        AVERAGE,
        "dz = dm.expand(B, T, H) / z.sum() / B",
        "dz:wrong-size:z",
        ["a tensor where a size belongs"],
        ["counts"],
    ),
    # A division that is rounded down.
    (MEANT, "dv = torch.full_like(v, -1 // N)", "dv:floored", ["`-1 // N` is rounded down", "`/` keeps it"], ["times"]),
    (MEANT, "dv = -torch.full_like(v, 1 // N)", "dv:floored", ["`1 // N` is rounded down"], ["is zero"]),
    (AVERAGE, "dz = dm.expand(B, T, H) // (B * T)", "dz:floored", ["is rounded down"], ["cosine"]),
    (DEVIATION, "dv = -(1 // 2) * (v + 1e-5) ** -1.5 * di", "dv:floored", ["`1 // 2` is rounded down"], ["function"]),
    # The gradient of a loss is 1, and stands in no right line.
    (FORK, "db = 1\nda = b + db\ndx = 2 * x * da + db", "db:fixed", ["uses no tensor."], ["upstream"]),
    (FORK, "db = a\nda = 1\ndx = 2 * x * da + db", "da:fixed", ["`db`, is not in it"], ["dL"]),
    (LENGTHS, "dz = torch.zeros_like(z)", "dz:zeros", ["is zero"], ["dL"]),
    # A division by a wrong number is one thing.
    (AVERAGE, "dz = dm.expand(B, T, H) / 7", "dz:factor", ["one common factor"], ["Two things", "changed nothing"]),
    (AVERAGE, "dz = dm.expand(B, T, H) / H", "dz:factor:B*T/H", ["exactly `B * T/H` times"], ["Two things"]),
    (VARIED, "dx = dv * 2 * (x - x.mean(0)) / x.numel()", "dx:factor", ["one common factor"], ["Two things", "lacks"]),
    (
        CORRECTED,
        "dx = torch.ones_like(x) * dv / x.shape[1]",
        "dx:factor",
        ["one common factor"],
        ["Two things", "left out"],
    ),
]


def submitted(one, lines):
    """*lines* behind what the solution has above them."""
    written = {line.split()[0].partition("[")[0] for line in lines.split("\n")} & set(one.require)
    solution = one.solution.split("\n")
    first = min(rank for rank, line in enumerate(solution) if line.split()[0] in written)
    return lines if lines.startswith(solution[0]) else "\n".join([*solution[:first], lines])


@pytest.mark.in_turn
@pytest.mark.filterwarnings("ignore:Use of index_put_ on expanded tensors:UserWarning")
@pytest.mark.parametrize(("one", "lines", "code", "said", "unsaid"), ROWS, ids=[row[1] for row in ROWS])
def test_a_sentence_holds_of_the_lines_that_were_written(engine, one, lines, code, said, unsaid):
    verdict = engine.check(one.task(grade="value"), submitted(one, lines))

    wrong = next(name for name in verdict.names if name.verdict not in QUIET)
    assert wrong.code == code, wrong.message
    assert all(word in wrong.message for word in said), wrong.message
    assert not any(word in wrong.message for word in unsaid), wrong.message


def test_no_two_programs_of_these_rows_have_one_name():
    assert len({row[0].name for row in ROWS}) == len({id(row[0]) for row in ROWS})


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("one", {row[0].name: row[0] for row in ROWS}.values(), ids=lambda one: one.name)
def test_the_programs_of_these_rows_are_sound(engine, one):
    assert engine.check(one.task(grade="value"), one.solution).passed


@pytest.mark.parametrize("rest", ["torch.softmax(X, 1)", "X.exp()"])
def test_what_shares_the_memory_of_a_wrong_line_does_not_follow_from_it(engine, rest):
    text = RENAMED.solution.replace("dX = -dm", "dX = dm").replace("torch.softmax(X, 1)", rest)

    verdict = engine.check(RENAMED.task(grade="value"), text)
    names = {name.name: name for name in verdict.names}

    assert headline(verdict) == "1 line to fix"
    assert [name for name, verdict in names.items() if verdict.verdict not in QUIET] == ["dX"]
    assert names["dX"].line == 4
    assert "the share through `m` has the opposite sign" in names["dX"].message
    assert "`dX = dm` gives `dm` a second name, and line 6 edits" in names["dX"].message
    assert names["du"].word == names["dm"].word == "shares memory with dX"


def test_in_a_loop_the_line_of_the_write_is_at_fault(engine):
    code = "dC = torch.zeros_like(C)\nfor k, i in enumerate(ix):\n    dC[i] = de[k]"

    (wrong,) = engine.check(TABLE.task(grade="value"), code).names

    assert wrong.code == "dC:scatter-overwrite"
    assert wrong.line == 3


def test_numbers_that_are_right_by_a_size_are_not_called_right_by_a_one(engine):
    mean = box("mean", "N: 6", "x: [N]", "L", "L = x.mean()", "dx = torch.full_like(x, 1 / N) * dL", "dx")

    (wrong,) = engine.check(mean.task(grade="value"), "dx = torch.full_like(x, 1 / 6)").names

    assert wrong.code == "dx:size-hard-coded"
    assert "only because" not in wrong.note


def test_numbers_that_are_right_by_a_one_are_told_so(engine):
    tripled = box("tripled", "N: 1", "x: []", "L", "L = 3 * x", "dx = torch.full_like(x, 3.0)", "dx")
    squared = box("squared", "N: 1", "x: []", "y", "y = 3 * x", "dx = 3 * dy", "dx")

    assert engine.check(tripled.task(grade="value"), "dx = torch.full_like(x, 3.0)").passed
    (wrong,) = engine.check(squared.task(grade="value"), "dx = torch.full_like(x, 3.0)").names

    assert wrong.verdict == "wrong"
    assert wrong.note == "On these numbers it comes out right only because `dy` is 1 here."


def test_a_one_hot_that_counts_classes_by_the_data_is_told(engine):
    pick = box(
        "pick",
        "N: 5, V: 3",
        "P: [N, V]; t: [N] ints(V)",
        "v",
        "v = P[torch.arange(N), t]",
        "dP = F.one_hot(t, V) * dv[:, None]",
        "dP",
    )

    (wrong,) = engine.check(
        pick.task(grade="value"), "hot = torch.zeros(N, V)\nhot += F.one_hot(t)\ndP = hot * dv[:, None]"
    ).names

    assert "`F.one_hot(t)` makes as many columns as" in wrong.message, wrong.message


ELSEWHERE = [
    ("dlogp[torch.arange(N), t] += dpick", "dp[torch.arange(N), t] += dpick", "dlogp:written-elsewhere:dp"),
    ("dE.index_add_(0, t", "E.index_add_(0, t", "dE:written-elsewhere:E"),
    ("dE.index_add_(0, t", "dlogp.index_add_(0, t", "dE:written-elsewhere:dlogp"),
]


@pytest.mark.parametrize(("right", "wrong", "code"), ELSEWHERE, ids=[row[2] for row in ELSEWHERE])
def test_a_line_that_writes_into_another_tensor_is_one_red_line(engine, right, wrong, code):
    text = PICKED.solution.replace(right, wrong)

    names = engine.check(PICKED.task(grade="value"), text).names

    (red,) = [one for one in names if one.verdict not in QUIET]
    assert red.code == code, red.message
    assert red.line == next(at for at, line in enumerate(text.split("\n"), 1) if line.startswith(wrong))


SLIDE = box(
    "slide",
    "N: 8, L: 12, M: 10",
    "x: [N, L]; w: [3]",
    "y",
    "y = x[:, 0:M] * w[0] + x[:, 1:M + 1] * w[1] + x[:, 2:M + 2] * w[2]",
    "dx = torch.zeros_like(x)\ndx[:, 0:M] += dy * w[0]\ndx[:, 1:M + 1] += dy * w[1]\ndx[:, 2:M + 2] += dy * w[2]",
    "dx",
)
SLID = [
    ("0:M] +=", "1:M + 1] +=", "dx:wrong-part", "`1:M + 1` is another part"),
    ("1:M + 1] +=", "0:M] +=", "dx:wrong-part", "`0:M` is another part"),
    ("1:M + 1] +=", "1:M + 1] -=", "dx:share-sign:y", "through its second place in"),
    ("1:M + 1] +=", "1:M + 1] =", "dx:overwritten", "`dx[:, 1:M + 1] = dy * w[1]` replaces"),
    ("dy * w[1]", "w[1]", "dx:upstream-missing", "through its second place in"),
]


@pytest.mark.parametrize(("right", "wrong", "code", "words"), SLID, ids=[f"{row[1]} for {row[0]}" for row in SLID])
def test_of_several_lines_that_add_shares_the_wrong_one_is_red(engine, right, wrong, code, words):
    (red,) = engine.check(SLIDE.task(grade="value"), SLIDE.solution.replace(right, wrong)).names

    assert red.code == code
    assert words in red.message
    assert red.line == 1 + SLIDE.solution.partition(right)[0].count("\n")
