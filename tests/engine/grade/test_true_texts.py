"""What a sentence says of the learner's text is so: each edit of these programs once belied its words."""

import ast

import pytest

from app.engine.grade.engine import Engine
from tests.grading.programs.load import PROGRAMS, Program

POOLED = Program(
    "pooled",
    """\
:dims: {N: 2, C: 3, L: 4}
:inputs: {x: "[N, C, 3*L]", w: "[3*L]"}
:output: y
t = x.view(N, C, L, 3)
m = t.mean(3)
y = m.repeat_interleave(3, 2) * w
""",
    ("dm = (dy * w).view(N, C, L, 3).sum(3)\ndx = (dm / 3).repeat_interleave(3, 2)\ndw = (dy * y / w).sum((0, 1))\n",),
    (),
)
DECAYED = Program(
    "decayed",
    """\
:dims: {N: 6, D: 4, K: 3}
:inputs: {X: [N, D], W: [D, K], t: "[N] ints(K)"}
:output: L
scores = X @ W
L = F.cross_entropy(scores, t) + 0.005 * (W ** 2).sum()
""",
    ("dscores = (torch.softmax(scores, 1) - F.one_hot(t, K)) / N\ndW = X.T @ dscores + 0.01 * W\n",),
    (),
)
BY_NAME = {program.name: program for program in (*PROGRAMS, POOLED, DECAYED)}
QUIET = {"right", "right-other-road", "follows"}
ROWS = [
    # The size that is left open is told as it is written.
    (
        "patch_embedding",
        "patches.reshape(-1, c * P * P)",
        "patches.reshape(-1, (c + P) * P)",
        "dW:error:reshape",
        ["(-1, 28) cannot hold"],
        ["(1, 28)"],
    ),
    # What lacks its upstream on every way is told of no line as the whole of it.
    (
        "bce_with_logits",
        "-dper * (y / p",
        "(y / p",
        "dp:upstream-missing",
        ["The upstream gradient"],
        ["Multiply it"],
    ),
    # A number before `@` may stand where a tensor was forgotten.
    ("rbf_kernel", "- 2 * dd2 @ z", "- 2 @ z", "dx:error:operator", ["or a tensor is missing"], ["write `*`"]),
    # What was added up along an axis of size 1 has an axis too many.
    ("rotary", "dy2 * x1).sum(1)", "dy2 * x1).sum(1, keepdim=True)", "dsin:keepdim-added", ["are right"], ["not yet"]),
    # A share that is zero by its numbers stands there.
    ("triplet", "+ 2 * (anchor - neg)", "+ 2 * (neg - neg)", "danchor:wrong-operand", ["the first one"], ["missing"]),
    ("makemore_mlp", "Yb] -= 1", "Yb] -= 2 * 1", "dlogits:", ["with the upstream gradient alone"], ["the direct"]),
    # What is transposed twice is transposed once too often, and not to stand without.
    (
        "grouped_query",
        "dkr = ds.transpose(-1, -2) @",
        "dkr = ds.transpose(-1, -2).mT @",
        "dkr:transpose-extra",
        ["once too often"],
        ["should not"],
    ),
    # What is not finite is named in the line that makes it.
    (
        "batch_norm_pieces",
        "torch.sqrt(var",
        "torch.sqrt(beta",
        "dvar:wrong-operand:beta",
        ["In line 8", "negative"],
        ["reads"],
    ),
    # One of several equal numbers is told apart.
    ("conv1d_unfold", "in range(k)", "in range(1, k)", "dx:constant-changed", ["`1` in `range(1, k)`"], []),
    # Two shares that cancel out are there.
    (
        "exponential_average",
        "dm3 * (m2 - x3)",
        "dm3 * (x3 - x3)",
        "db:wrong-operand:x3",
        ["the first one in `x3 - x3`"],
        ["missing"],
    ),
    # A mask has no negative, and its opposite does not belong there.
    ("im2col", "da * (z > 0)", "da * -(z > 0)", "dz:error:negated", ["in front of a mask"], ["~"]),
    # Flat is the operation, and not the line that adds something to it.
    ("skip_stack", "(r2 @ W3 > 0)", "(r2 @ W3 < 0)", "dr2:gate-flipped", ["`torch.relu(r2 @ W3)` is flat"], []),
    # What is multiplied before a sum does not mend the line that has summed already.
    (
        "cosine_rows",
        "-(dua * a).sum(1",
        "-a.sum(1",
        "dna:upstream-missing",
        ["The upstream gradient", "`dua`"],
        ["Multiply it"],
    ),
    # Where no division stands, none is told of.
    (
        "mixture_nll",
        "(-ls).exp()).sum(1)",
        "(--ls).exp()).sum(1)",
        "dx:term-sign",
        ["the minus of `--ls`"],
        ["divides"],
    ),
    # What is zero has a reason in its text.
    (
        "makemore_batch_norm",
        "(bndiff * dbnraw).sum(0, keepdim=True)",
        "bndiff.sum(0, keepdim=True)",
        "dbnvar_inv:factor-missing",
        ["lacks a factor"],
        ["is zero"],
    ),
    (
        "triplet",
        "dneg = -2 * (anchor - neg)",
        "dneg = -2 * (neg - neg)",
        "dneg:wrong-operand:neg",
        ["the first one"],
        ["is zero"],
    ),
    # What one edit mends is not two things.
    ("barlow_twins", "dca = dna / sa", "dca = dna / dsa", "dca:wrong", ["`dsa`"], ["Two things"]),
    # A number is shown as it is written.
    ("additive_attention", "= dcut.masked", "= score.masked", "dscore:wrong-upstream", ["(pad, -1e9)"], ["00"]),
    (
        "causal_depthwise",
        "p[:, 1:-1]).sum((0, 1))",
        "p[:, 1:-1]).sum((0,))",
        "dw:error:stacked",
        ["and number 2 has"],
        ["others"],
    ),
    # The axes of a share are called as those of a tensor of its own shape alone.
    ("maxout", "db = g.sum(0)", "db = g.sum(1)", "db:wrong-axis", ["runs over axis 1.", "along axis 0"], ["(`H`)"]),
    # A loop begins at another line than the factor in it stands in.
    ("makemore_mlp", "+= demb[k, j]", "+= 2 * demb[k, j]", "dC:doubled", ["twice as large"], ["in line"]),
    # A difference may be written with a minus in front: that none belongs there is not said.
    ("actor_critic", "dret = -dv", "dret = --dv", "dret:sign", ["look for a minus"], ["No minus stands"]),
    # A factor that stands once more is no division that is missing, and one of two copies belongs there.
    ("factorization_machine", "2 * V * (", "2 * V * V * (", "dV:factor-extra:V", ["once more"], ["lacks a division"]),
    ("svm_hinge", "dreg * W", "dreg * W * W", "dW:factor-twice:W", ["once more than in the rule"], ["uses it once"]),
    ("softmax_regression_steps", "dz = p * (", "dz = p * p * (", "dz:", ["once"], ["does not belong"]),
    # A number that happens to be made of a size is none where an operator is what is wrong.
    ("plain_attention", "q / D ** 0.5", "q / (D * 0.5)", "dk:power-missing", ["is a product"], ["size of the tensor"]),
    # A row runs along the last axis.
    ("clip", "lt.exp() * dlt.sum(0, keepdim=True)", "lt.exp() * dlt", "ds:row-sum-missing", ["the column"], ["row"]),
    ("clip", "li.exp() * dli.sum(1, keepdim=True)", "li.exp() * dli", "ds:row-sum-missing", ["the row"], ["column"]),
    # The upstream of a loss is 1: multiplied by it or divided by it, the numbers are the same.
    ("label_smoothing", "dloss / N", "N / dloss", "dper:divided:mean", ["upside down"], ["times too large"]),
    ("label_smoothing", "dloss / N", "dloss / dloss", "dper:wrong-size:dloss", ["where a size belongs"], ["is not"]),
    (
        "clip",
        "-dloss / (2 * N) * torch.eye(N)\ndlt",
        "-N / dloss * torch.eye(N)\ndlt",
        "dli:",
        [],
        ["`2` of", "Besides"],
    ),
    ("label_smoothing", "dloss / N", "dloss", "dper:factor:N", ["exactly `N` times too large"], []),
    ("rbf_kernel", "/ ell ** 3", "/ ell", "dell:factor-power:ell:2", ["another power"], ["has it once", "multiplies"]),
    ("triplet", "(anchor - pos)", "(anchor - 2 * pos)", "danchor:factor-extra", ["not belong in `2 * pos`"], []),
    ("clip", "+ dlt - lt", "+ dlt + lt", "ds:term-sign", ["the column sum has the opposite"], ["row"]),
    ("distillation", ".sum(1, keepdim=True)) / 2.0\n", ".sum(1, keepdim=True)) / 4.0\n", "d", ["half"], ["`2.0`"]),
    (
        "clip",
        "-dloss / (2 * N) * torch.eye(N)\nds",
        "-dloss * (2 * N) * torch.eye(N)\nds",
        "dlt:multiplied",
        [],
        ["quotient"],
    ),
    ("micrograd_neuron", "dx1w1 * w1", "dloss * w1", "dx1:wrong-upstream:dloss", ["starts from `dloss`"], ["alone"]),
    (
        "graph_convolution",
        "Ah * isd[None, :]",
        "Ah / isd[None, :]",
        "disd:divided",
        ["is divided by where the rule multiplies"],
        ["`deg`"],
    ),
    (
        "triplet",
        "2 * (anchor - pos) * dn",
        "2 / (anchor - pos) * dn",
        "danchor:power-changed",
        ["exponent `-1`"],
        ["sign"],
    ),
    (
        "rnn_steps",
        "da3 = dh3 * (1 - h3 ** 2)",
        "da3 = -(dh3 * (1 - h3 ** 2))",
        "dx3:sign",
        ["Where `da3` is made, in line 1, look for a minus"],
        ["is written", "It stands"],
    ),
    ("unet_skip", "da = dmid", "da = -dmid", "dg:sign", ["Where `da` is made, in line 4"], ["Look for a minus in"]),
    ("group_norm", "(dxn * xn)", "(dxn * xn * xn)", "dxg:factor-extra:xn", ["In a share of `dxg`"], []),
    ("kl_gauss", "dkl * mu / N", "dkl / N", "dmu:power-changed", ["lacks the base of `mu ** 2`"], ["as a factor"]),
    ("bce_with_logits", "(1 - y) / (1 - p)", "(1 - y)", "dp:local-missing:log", ["as if `torch.log(1 - p)`"], []),
    ("two_layer_net", "(dprobs - (", "(dprobs * (", "dscores:product-for-sum", ["subtracts"], ["adds"]),
    ("activation_zoo", "d1 = du1 * (x", "d1 = (x", "dx:upstream-missing", ["through `u1`"], ["another way"]),
    ("distillation", "p * (dp - (", "p * (dp - 2 * (", "dteacher:", ["twice as large"], ["lacks the constant"]),
    # One slip in a line that several shares have in common is one.
    ("group_norm", "L = M * H * W", "L = M * H * -W", "dxg:term-sign", ["the minus of `-W`"], ["more than one thing"]),
    # Where a step on the way may be what is off, it is named.
    ("runge_kutta", "(1 - k4 ** 2)", "(1 - y0 ** 2)", "dk3:wrong-operand:y0", ["has `k4`. It stands in line 2"], []),
    ("gru_cell", "ar @ Wr.T + az", "2 * (ar @ Wr.T) + az", "dx:share-doubled:r", [], ["already"]),
    ("activation_zoo", "d2 = du2 *", "d2 = -du2 *", "dx:share-sign:u2", ["line 9, where `d2` is made"], []),
    ("activation_zoo", "d4 = du4 *", "d4 = 2 * du4 *", "dx:share-doubled:u4", ["where `d4` is made"], []),
    # A line that reads what it makes itself is no sum that was not begun.
    (
        "plain_attention",
        "dp = do @ v.T",
        "dp = dp @ v.T",
        "dp:error:no_name",
        ["meant where it is read"],
        ["zeros_like"],
    ),
    ("average_pool", "W * k)", "W / k)", "dx:error:fraction", ["a size is a whole number"], ["failed to unpack"]),
    (
        "plain_attention",
        "ds @ k /",
        "ds @ k.T /",
        "dq:error:matmul",
        ["is one of them transposed?"],
        ["has to be transposed"],
    ),
    # Another tensor in a condition: what the condition then lets through is no share that is missing.
    ("ppo", "ratio >= 0.8", "old >= 0.8", "dratio:wrong-operand:old", ["`old` is the wrong tensor"], ["missing"]),
    ("ppo", "ratio <= 1.2", "adv <= 1.2", "dratio:wrong-operand:adv", ["`adv` is the wrong tensor"], ["lower limit"]),
    ("huber", "torch.sign(r)", "torch.sign(t)", "dr:wrong-operand:t", ["`t` is the wrong tensor"], ["opposite sign"]),
    # A slip in a step on the way stands there, and a step that is right is not to blame.
    ("runge_kutta", "dk4 * (1 - k4 ** 2)", "1 - k4 ** 2", "dk3:upstream-missing", ["line 2, where `g4` is made"], []),
    ("sinkhorn", "-du1 * a", "-a * a", "dK:wrong-upstream:a", ["line 7, where `s1` is made"], []),
    ("selective_scan", "dabar * abar", "dabar * abar * abar", "ddelta:local-twice", ["line 13, where `dlog`"], []),
    ("rnn_steps", "dh2 * (1 - h2 ** 2)", "dh2 * 1 - h2 ** 2", "dx2:brackets", ["line 3, where `da2` is made"], []),
    ("makemore_mlp", "(1.0 - h ** 2) * dh", "(1.0 - h ** 2) / dh", "dembcat:", ["line 7, where `dpre` is made"], []),
    ("cumulative_hazard", "dx = g * w", "dx = g", "dx:local-missing", ["is scaled on its way"], ["It stands"]),
    # Two averages, of which one runs along another axis.
    ("layer_norm_fused", "dnorm.mean(-1,", "dnorm.mean(0,", "dinp:wrong-axis", ["`dnorm.mean(0, k"], ["averages"]),
    # A minus that is written in front of what belongs there is none that is missing, and none to look for elsewhere.
    ("selective_scan", ".sum(0) * torch.exp(A)", ".sum(0) * -torch.exp(A)", "dA:sign", ["opposite"], ["No minus"]),
    ("selective_scan", "-(dlog * delta[:, :, None]).sum(0)", "-dlog.sum(0)", "dA:", [], ["Two things", "opposite"]),
    ("masked_sequence", "dloss / count", "dloss / loss", "dtotal:", ["is written here with `count`"], ["`total`;"]),
    # The upstream that is 1 here and that the line leaves out: reading it would mend nothing.
    ("dpo", "dloss / N * torch.ones", "torch.ones", "dper:factor:N", ["`N` times too large"], ["`dloss`"]),
    ("nt_xent", "- dloss / N * torch.eye", "- torch.eye", "ds:share-factor", [], ["`dloss`"]),
    (
        "micrograd_readme",
        "dd2 * (b - a > 0)\ndb",
        "dd2 * (b * a > 0)\ndb",
        "da:",
        [],
        ["lets through", "through relu", "starts"],
    ),
    (
        "svm_hinge",
        "X.T @ dscores + dreg * W",
        "2 * (X.T @ dscores + dreg * W)",
        "dW:",
        ["twice"],
        ["as if", "what `reg"],
    ),
    ("bce_with_logits", "- (1 - y) / (1 - p)", "- (1 - y)", "dp:local-missing:log", ["with respect to `1 - p`"], []),
    ("graph_convolution", "dZ @ XW.T", "dXW @ XW.T", "dS:error:no_name", ["or is something else meant there?"], []),
    ("average_pool", "H * k,", "H / k,", "dx:error:fraction", ["Is a division meant there, or a product?"], []),
    # The steps of a loop have no names in the text, and a loop makes them where it says.
    ("rnn_loop", "db += da.sum(0)", "db += 0.5 * da.sum(0)", "db:halved", ["exactly half"], ["skips", "hs_0"]),
    ("rnn_loop", "dWh += before.T", "dWh = before.T", "dWh:overwritten", ["earlier turns"], ["hs_"]),
    ("rnn_loop", "dWh += before.T", "dWh += h[:, t].T", "dWh:steps-shifted", ["of a neighbouring step"], ["hs_"]),
    ("rnn_loop", "dh0 = carry", "dh0 = -carry", "dh0:sign", ["opposite sign"], ["hs_", "No minus"]),
    ("rnn_loop", "1 - h[:, t] ** 2", "1 - h[:, t - 1] ** 2", "dx:term-extra", ["belong in `t - 1`"], ["there"]),
    ("rnn_loop", "dx[:, t] = da", "x[:, t] += da", "dx:written-elsewhere:x", ["Line 9"], []),
    # What is so of one share, of one place or of one operation is said of that alone.
    (
        "graph_convolution",
        "disd = (dS * Ah",
        "disd = (A * Ah",
        "disd:wrong-upstream:A",
        ["its first place in `S ="],
        [],
    ),
    ("kl_gauss", "0.5 * std - 0", "0.5 * mu - 0", "dlogvar:wrong-operand:mu", ["The share of `dlogvar` through"], []),
    ("reinforce", "dp * p - d", "dp * p * p - d", "dlogp:local-twice", ["The share of `dlogp` through `p`"], []),
    ("ppo", "adv * inside", "inside", "dratio:local-missing:mul", ["through `s2`"], ["passes", "unchanged"]),
    ("distillation", "-dkl[:, None] * p", "-p", "dlq:upstream-missing", ["The upstream gradient"], ["other side"]),
    ("residual_mlp", "0.044715 * a ** 2)", "0.044715 * a ** 3)", "da:power-not-lowered", ["of `a ** 3`"], ["adds;"]),
    (
        "weight_norm",
        "dnorm * v / norm",
        "dnorm * v / dnorm",
        "dv:wrong-upstream:dnorm",
        ["`dnorm * v / dnorm`"],
        ["from"],
    ),
    ("weight_norm", "dnorm * v / norm", "dnorm * v * norm", "dv:power-changed", ["the share of `dv`"], ["divides"]),
    ("cosine_rows", "dna * a / na", "dna * a", "da:divisor-missing:na", ["lacks a division by `na`"], ["once more"]),
    ("micrograd_readme", "3 * b ** 2", "3 * b ** 2 * b ** 2", "db:", [], ["rule for `d = a * b + b ** 3` divides"]),
    # One slip is told as one, and as the one that the text has.
    (
        "actor_critic",
        "dcritic * 2",
        "dactor * 2",
        "dv:wrong-upstream:dactor",
        ["`dactor` is the wrong tensor"],
        ["common factor"],
    ),
    ("actor_critic", "-dactor * adv", "-dcritic * adv", "dpick:wrong-upstream:dcritic", ["from `dcritic`"], ["half"]),
    (
        "micrograd_readme",
        "dd2 * (b - a",
        "dd2 * (dg - a",
        "da:wrong-upstream:dg",
        ["`dg` is the wrong tensor"],
        ["open"],
    ),
    ("swiglu_block", "g * sig * (", "g * sig * sig * (", "dg:factor-extra:sig", ["once too often"], ["the output"]),
    ("graph_attention", "dz.sum(1)", "dz[:, 0]", "dsl:one-slice", ["`dz[:, 0]` is one slice"], ["not summed"]),
    ("mixture_nll", "(du * (-ls).exp()).sum(1)", "du * (-ls).exp()", "dx:", ["shape"], ["matrix product"]),
    ("log_determinant", "A @ (dS + dS.T)", "(A @ (dS + dS.T)).mT", "dA:transpose-extra", ["once too often"], ["order"]),
    ("squeeze_excite", "s.T @ dh", "(s.T @ dh).mT", "dW1:transpose-extra", ["is transposed"], ["order of the two"]),
    ("plain_attention", "ds @ k /", "ds * k /", "dq:error:broadcast", ["`q @ k.T` is a matrix product"], []),
    # A step that lacks everything but what arrives is no step that is right.
    (
        "activation_zoo",
        "du3 * torch.where(x >",
        "du3 * torch.where(u2 >",
        "dx:wrong-operand:u2",
        ["`u2` is the wrong tensor"],
        ["scaled"],
    ),
    ("rnn_steps", "da1 = dh1 * (1 - h1 ** 2)", "da1 = dh1", "dx1:local-missing:tanh", ["where `da1` is made"], []),
    # What is divided by is no term that lacks a minus, and a slice that is too short no sum that was forgotten.
    ("token_position", "(2 * math.pi) **", "(2 * -math.pi) **", "de:dtype", ["holds `complex"], ["the gate"]),
    ("linear_attention", "dq = dfq *", "dq = dfq /", "dq:divided", ["is divided by where"], ["minus"]),
    (
        "conv1d_unfold",
        "j:j + L - k + 1] +=",
        "j:1] +=",
        "dx:error:output_shape",
        ["slice on the left too short"],
        [],
    ),
    # One of two terms of a line is not its whole share.
    ("micrograd_readme", "(a + 3 * b ** 2)", "(3 * b ** 2)", "db:share-missing:d", ["its first place in `d = "], []),
    # One factor or name is off, and not two terms, each by a number of its own.
    ("actor_critic", "dret = -dv", "dret = -ret", "dret:", [], ["term with", "Two things", "forgets"]),
    ("group_norm", "L = M * H * W", "L = H * W", "dxg:factor-missing", ["`H * W` lacks a size"], ["through"]),
    # The output stands in the text only if it is written there.
    ("swiglu_block", "g * sig * (1", "g * sig * sig * (1", "dg:factor-extra:sig", ["once too often"], ["the output"]),
    # A product is one operation of a line.
    ("rnn_steps", "dx2 = da2 @", "dx2 = da2 *", "dx2:error", ["`x2 @ Wx` is a matrix product"], []),
    # What is so of one share is said of that one.
    ("rms_norm", "dn * r + 2", "dn + 2", "dx:local-missing:mul", ["the share of `dx` through `n`"], []),
    (
        "graph_convolution",
        "(dS * Ah * isd[None",
        "(A * Ah * isd[None",
        "disd:wrong-upstream:A",
        ["its first place in `S ="],
        [],
    ),
    ("weight_norm", "dnorm * v / norm", "dnorm * v / dnorm", "dv:wrong-upstream:dnorm", ["`dnorm * v / dnorm`"], []),
    ("rotary", "[dx1, dx2]", "[dx2, dx1]", "dx:crossed:x1+x2", ["stands in the place of"], ["product"]),
    # What is multiplied by is not divided by, and what stands nowhere stands there not once too often.
    ("weight_norm", "dnorm * v / norm", "dnorm * v * norm", "dv:power-changed", ["another power"], ["divides where"]),
    # Many lines are no place to look.
    ("rnn_loop", "db += da", "db += 0.5 * da", "db:halved", ["exactly half"], ["hs_0", "skips"]),
    # Where nothing scales, the factor stands in the line; a share alone starts elsewhere; an upstream is no term.
    ("micrograd_neuron", "db = dn", "db = 0.5 * dn", "db:halved", ["or a division, in line 6."], ["Compare"]),
    ("activation_zoo", "d4 = du4", "d4 = du2", "dx:wrong-upstream:du2", ["share of `dx` through `u4`"], []),
    ("bilinear_ratings", "dloss * err", "(dloss + err)", "derr:sum-for-product", ["adds where"], ["does not belong"]),
    ("maxout", "dm[:, :, None])", "dy[:, :, None])", "dz:wrong-upstream:dy", ["its upstream gradient is `dm`"], []),
    ("ridge_kalman", "dmn - dinn * h", "-(dmn - dinn * h)", "dm:sign", ["Where `dm` is written"], ["derivative of"]),
    ("rbf_kernel", "dk * k / ell ** 2", "dk / ell ** 2", "dd2:local-missing:exp", ["as if `exp` in"], []),
    ("relative_bias", "hts,hsd->htd', ds", "hts,hsd->hdt', ds", "dq:transposed", ["exchanged"], ["the two factors"]),
    # A division where a product belongs is none that lacks brackets.
    ("kl_gauss", "dkl / N * (1", "dkl / N / (1", "dlogvar:divided", ["is divided by where"], ["brackets"]),
    ("batch_norm_fused", "* (N * dout", "/ (N * dout", "dx:divided", ["is divided by where"], ["brackets"]),
    # A constant is there twice only if it is written twice; a number that is too much stands in its line.
    (
        "bilinear_ratings",
        "dloss * err / N",
        "0.5 * dloss * err / N",
        "derr:halved",
        ["or a division, in line 1."],
        ["twice"],
    ),
    (
        "nt_xent",
        "du = ds @ v / 0.5",
        "du = 2 * (ds @ v / 0.5)",
        "du:doubled",
        ["or a division, in line 5."],
        ["constant"],
    ),
    (
        "dropout_film",
        "df = da *",
        "df = 0.5 * da *",
        "df:halved",
        ["or a division, in line 2."],
        ["multiplies or divides"],
    ),
    # What is left of a difference is told by what is gone.
    ("focal", "p * (1 - p)", "p * -p", "dz:one-missing", ["the one is missing"], ["term with the output"]),
    ("swiglu_block", "sig * (1 - sig)", "sig * sig", "dg:term-missing", ["takes it away from something"], ["terms"]),
    ("kl_gauss", "2 * (z - x)", "2 * -x", "dz:term-missing", ["`-x` lacks a term"], ["Besides", "opposite"]),
    ("softmax_regression_steps", "(dp - (dp * p)", "-((dp * p)", "de:", ["lacks a term"], ["Two things"]),
    (
        "distillation",
        "4.0 * dloss / N * torch",
        "torch",
        "dkl:factor",
        ["common factor"],
        ["no tensor is read", "`dloss`"],
    ),
    ("group_norm", "dxg = (L * dxn", "dxg = -(L * dxn", "dxg:", [], ["in the local derivative"]),
    ("linear_attention", "ones_like(q), q.exp()", "ones_like(q), q", "dq:wrong-operand:q", ["the third one in"], []),
    ("token_position", "e / 2 ** 0.5", "e / (2 * 0.5)", "de:power-missing", ["is a product where"], ["itself"]),
    # Of two places that fit alike the numbers tell neither.
    (
        "graph_convolution",
        "(dS * Ah * isd[:, None])",
        "(dS * A * isd[:, None])",
        "disd:wrong-operand:A",
        ["`A` is the wrong tensor"],
        ["place"],
    ),
    ("causal_depthwise", "(s + z * s", "(s + x * s", "dz:wrong-operand:x", ["`x` is the wrong tensor"], ["place in"]),
    ("cosine_rows", "dna * a / na", "dna * a / dna", "da:wrong-upstream:dna", ["`dna * a / dna`"], ["nothing else"]),
    # On few numbers one slip looks like another: more of them are looked at.
    (
        "micrograd_readme",
        "(b - a > 0)\ndb",
        "(d - a > 0)\ndb",
        "da:wrong-operand:d",
        ["`d` is the wrong tensor"],
        ["number"],
    ),
    (
        "micrograd_readme",
        "(b + a > 0) - dd2",
        "(b + d > 0) - dd2",
        "da:wrong-operand:d",
        ["`d` is the wrong tensor"],
        ["factor"],
    ),
    ("micrograd_readme", "(b - a > 0)\ndb", "(b - a > 0.75)\ndb", "da:constant-changed", ["`0.75`"], ["stands"]),
    (
        "micrograd_readme",
        "(b - a > 0)\ndb",
        "(b - c > 0)\ndb",
        "da:wrong-operand:c",
        ["`c` is the wrong tensor"],
        ["hidden data"],
    ),
    ("max_pool_reshape", "] * mask", "] * ~mask", "dxr:gate-flipped", ["`~mask` is the opposite"], ["wrong way round"]),
    ("instance_norm", "z * (dz * z).mean((2, 3)", "z * (dz * z).mean((2,)", "dx:wrong-axis", ["one axis too few"], []),
    # What moves entries multiplies by nothing.
    ("unet_skip", "l // 2] +=", "l] +=", "dx:copied:dup", ["as if `up ="], ["Multiply"]),
    # What is missing is put in, and what stood there is kept.
    (
        "runge_kutta",
        "(y0 + 0.1 * k3).T",
        "(y0 + 0.1).T",
        "dA:factor-missing",
        ["`0.1` lacks a factor"],
        [],
    ),
    ("residual_mlp", "(a + 0.044715 * a ** 3))\nda", "(a + a ** 3))\nda", "da:factor-missing", ["`a ** 3` lacks"], []),
    ("cross_entropy_fused", "y] -= 1", "y] = 1", "dz:overwritten", ["replaces what stood there"], []),
    ("conv1d_unfold", "k + 1] += dcols", "k + 1] = dcols", "dx:overwritten", ["replaces what stood there"], []),
    ("distillation", "(torch.log(p) - lq + 1)", "(-lq + 1)", "dp:term-missing", ["`-lq + 1` lacks a term"], []),
    # What is unchanged has no factor, what was not followed may have a minus, and what is no share sends none.
    (
        "svm_hinge",
        "-dmargin.sum(1)",
        "-dmargin",
        "dcorrect:not-reduced",
        ["Summed along axis 1"],
        ["Two things", "opposite"],
    ),
    ("linear_solve", "-torch.outer(db, x)", "torch.outer(db, x)", "dM:sign", ["look for a minus"], ["No minus"]),
    ("nt_xent", "e.sum(1))[", "e[:, 0])[", "de:one-slice", ["`e[:, 0]` is one slice alone"], ["share"]),
    ("bce_with_logits", "(y / p", "((1 - y) / p", "dp:steps-shifted", ["several places of `per`"], ["step"]),
    # A number that is none comes from where it stands.
    ("causal_heads", "datt = prob *", "datt = cut *", "datt:wrong-operand:cut", ["reads `cut`, which"], ["logarithm"]),
    (
        "distillation",
        "(torch.log(p) -",
        "(torch.log(student) -",
        "dp:wrong-operand:student",
        ["a zero or a negative"],
        ["exponential"],
    ),
    # What is written into a given gradient may belong into this one, and into one that is not there yet.
    (
        "label_smoothing",
        "dlogp[torch.arange(N), y] -= dnll",
        "dz[torch.arange(N), y] -= dnll",
        "dlogp:written-elsewhere:dz",
        ["belongs into `dlogp`"],
        [],
    ),
    ("unet_skip", "dx[:, :, ::2] +=", "dy[:, :, ::2] +=", "dx:written-elsewhere:dy", ["belongs into `dx`"], ["clone"]),
    # What would mend a line that stopped is said only where it does.
    ("residual_mlp", "dx = dy +", "dx = dx +", "dx:error:no_name", ["or is another name meant there?"], []),
    ("patch_embedding", "reshape(-1, c * P * P).T", "reshape(-1, P * P).T", "dW:error", ["another shape of one"], []),
    (
        "causal_depthwise",
        "(dz * p[:, 2:]).sum((0, 1))",
        "dz * p[:, 2:]",
        "dw:error:stacked",
        ["takes tensors of one shape"],
        ["RuntimeError"],
    ),
    # A place in a line is counted as it is read; of several ways none alone is where a minus is wrong.
    (
        "activation_zoo",
        "torch.where(x > 0, torch.ones_like(x), a.expand_as(x))\nd4",
        "torch.ones_like(x)\nd4",
        "dx:local-missing:mul",
        ["its third place in"],
        ["second place"],
    ),
    ("rotary", "(dy1 * x2 - dy2 * x1)", "-(dy1 * x2 - dy2 * x1)", "dsin:sign", ["Where `dsin` is written"], ["`y2"]),
    # One slip is told as one: a size without its power, the letter in a local derivative, a fused term.
    ("grouped_query", "q * E ** (-0.5)\n", "q * E\n", "dkr:power-missing", ["`E` stands without the power"], ["Two"]),
    (
        "makemore_mlp",
        "1.0 - h ** 2",
        "1.0 - dh ** 2",
        "dembcat:wrong-upstream:dh",
        ["is the wrong tensor"],
        ["through tanh"],
    ),
    ("makemore_mlp", "F.softmax", "2 * F.softmax", "dlogits:term-factor", ["term with the probabilities"], ["row sum"]),
    # What a term or a quotient lacks has a name, and so has an axis that a tensor does not have.
    (
        "graph_convolution",
        "(dS * Ah * isd[None, :]).sum(1)",
        "isd[None, :].sum(1)",
        "disd:upstream-missing",
        ["The upstream gradient, `dS`, is not in the term `isd[None, :].sum(1)`"],
        ["cosine"],
    ),
    ("micrograd_neuron", "do * 2 / (e + 1) ** 2", "do * 2", "de:factor-missing", ["lacks a division"], []),
    ("makemore_mlp", "Xb.shape[1]", "Xb.shape[2]", "dC:error:", ["`Xb` has no axis 2"], ["IndexError"]),
    # By an identity numbers are those of a power that the rule does not have.
    ("micrograd_neuron", "(e + 1) ** 2", "(e - 1) ** 2", "de:term-sign", ["the sign of `1`"], ["power"]),
    # A step that an edit makes a part of the program is where the slip is, and not what reads it.
    (
        "token_position",
        "torch.exp(-0.5 * e ** 2) / (2 * math.pi) ** 0.5",
        "(2 * math.pi) ** 0.5 / torch.exp(-0.5 * e ** 2)",
        "de:divided",
        ["In `pdf = ", "stands upside down"],
        ["In `de = "],
    ),
    ("residual_mlp", "tanh(k *", "tanh(-k *", "da:term-sign", ["In `t = ", "the minus of `-k`"], ["In `da = "]),
    # What joins the entries of a row multiplies none by a factor of its own.
    (
        "label_smoothing",
        "dz = dlogp - logp.exp() * dlogp.sum(1, keepdim=True)",
        "dz = dlogp",
        "dz:local-missing:log_softmax",
        ["joins the entries of a row"],
        ["Multiply"],
    ),
    ("skip_stack", "dr3 * (r2 @ W3 > 0)", "r2 @ W3 > 0", "dr2:error:dtypes", ["Line 3 makes `g3`"], []),
    ("rnn_loop", "else h0", "else hs_1", "dWh:wrong-operand:hs_1", ["`hs_1` is the wrong tensor"], ["cosine"]),
    ("conv1d_unfold", "j:j + L - k + 1]", "0:L - k + 1]", "dx:steps-shifted", ["the same in every turn"], ["cosine"]),
    # A line of numbers alone is no reason to take a sentence on trust.
    ("group_norm", "(dxn * xn).sum(2", "dxn.sum(2", "dxg:divided-by:xn", ["lacks the factor `xn`"], ["`xg - mean`"]),
    # Brackets, an operator or an exponent in the text are told before a factor that its numbers come to.
    (
        "layer_norm_fused",
        "keepdim=True) - norm * (dnorm * norm).mean(-1, keepdim=True))",
        "keepdim=True)) - norm * (dnorm * norm).mean(-1, keepdim=True)",
        "dinp:brackets",
        ["the brackets around `dnorm - dnorm.mean(-1, keepdim=True)` close too early"],
        ["`rstd`, or"],
    ),
    (
        "coupling_flow",
        "-dloss / N * torch.ones_like(prior)",
        "-dloss / N + torch.ones_like(prior)",
        "dprior:sum-for-product",
        ["adds where the rule multiplies"],
        ["N-1"],
    ),
    ("rbf_kernel", "/ ell ** 3", "/ ell ** 2", "dell:power-changed", ["has another exponent"], ["is scaled by"]),
    ("barlow_twins", "dna * ca / sa ** 2", "(dna + ca) / sa ** 2", "dsa:sum-for-product", ["adds where"], ["missing"]),
    ("actor_critic", "0.5 * dloss", "0.5 * actor", "dcritic:wrong-upstream:actor", ["from `actor`"], ["scaled"]),
    ("causal_heads", "x.reshape(B * T", "x.reshape(B / T", "dWqkv:error", ["a fraction where it"], ["too much"]),
    ("triplet", "dloss / N", "dloss * N", "dhinge:multiplied", ["where the rule divides"], ["N^2"]),
    # A condition is where the slip is, and not what it lets through.
    ("huber", "where(a <= 1.0", "where(-a <= 1.0", "dr:term-sign", ["the minus of `-a`"], ["derivative of `abs`"]),
    ("max_pool_reshape", "xr == out", "xr != out", "dxr:gate-flipped", ["the wrong way round"], []),
    # A term without what arrives is one thing, and a gradient without it has a name.
    (
        "kl_gauss",
        "0.5 * dkl / N * (1 - logvar.exp())",
        "(1 - logvar.exp())",
        "dlogvar:upstream-missing",
        ["is not in the term `1 - logvar.exp()`"],
        ["more than one"],
    ),
    (
        "rbf_kernel",
        "-0.5 * dk * k / ell ** 2",
        "k / ell ** 2",
        "dd2:upstream-missing",
        ["`dk`, is not in `dd2`"],
        ["cosine"],
    ),
    # One slip is told as one: a sum that is left out, another tensor or number in one of the terms.
    ("group_norm", "- dxn.sum(2, keepdim=True)", "- dxn", "dxg:sum-missing", ["is not summed along"], ["n − 1"]),
    (
        "mixture_nll",
        "() * dlogpi.sum()",
        "() * logits.sum()",
        "dlogits:wrong-operand:logits",
        ["`logits` is the wrong tensor"],
        [],
    ),
    (
        "gru_cell",
        "ar = dr * r ",
        "ar = dr * rh ",
        "dx:wrong-operand:rh",
        ["`rh` is the wrong tensor"],
        ["lacks a division"],
    ),
    # What is so of two of three places is not so of every way, and no line is quoted that the program does not have.
    ("residual_mlp", "(1 - t ** 2)", "(1 - t)", "da:square-missing", ["is squared there"], ["every way"]),
    ("rnn_loop", "else h0", "else hs_0", "dWh:wrong-operand:hs_0", ["`hs_0` is the wrong tensor"], ["forward line"]),
    # Of several alike the place is told.
    (
        "residual_mlp",
        "0.044715 * a ** 3))\nda",
        "0.044715 * a))\nda",
        "da:power-missing",
        ["`a` in `0.044715 * a` stands without the power"],
        [],
    ),
    # A factor without a name may be what arrives, and an entry that is zero is right already.
    ("ppo", "-dpg / N * pick", "pick", "ds1:factor", ["the right one times one common factor"], ["data", "too large"]),
    (
        "plain_attention",
        "p * (dp - (dp * p).sum(-1, keepdim=True))",
        "p * dp",
        "ds:average-missing",
        ["Raising one score lowers the other probabilities"],
        [],
    ),
    # What arrives at a line is the gradient of what it makes, and a term may hold a part of what is to be met.
    (
        "coupling_flow",
        "-dprior[:, None] * xa",
        "xa",
        "dxa:upstream-missing",
        ["upstream gradient, `dprior`."],
        ["at `xa ** 2`"],
    ),
    (
        "graph_convolution",
        "(dS * Ah * isd[:, None]).sum(0)",
        "isd[:, None].sum(0)",
        "disd:upstream-missing",
        ["`dS`, is not in the term `isd[:, None].sum(0)`"],
        ["is to meet"],
    ),
    # A column, a sum, an order of two factors: each is proposed only where the line with it is right.
    ("reinforce", "dlogp[torch.arange(T), act]", "dlogp[act]", "dlogp:error:broadcast", ["do not fit"], ["column"]),
    ("distillation", ".sum(1, keepdim=True)) / 2.0", ".sum(1)) / 2.0", "dstudent:error", ["meant as a column"], []),
    (
        "plain_attention",
        "dp = do @ v.T",
        "dp = do @ do",
        "dp:error:matmul",
        ["do the two give it in any order, or is another tensor meant?"],
        ["transposed"],
    ),
    # What reads a tensor that was edited is blamed for it, and not what merely comes next.
    ("plain_attention", "dp = do", "p.mul_(2)\ndp = do", "dv:mutated", ["Line 1 edits the forward tensor `p`"], []),
    (
        "plain_attention",
        "dp = do @ v.T",
        "q = p\nq.mul_(2)\ndp = do @ v.T",
        "dv:mutated",
        ["`q = p` gives `p` a second name, and line 2 edits the one tensor behind both."],
        ["itself"],
    ),
    # To be a second name of a tensor is not all that is wrong where the numbers are another gradient's.
    (
        "cross_entropy_fused",
        "dz = F.softmax(z, 1)",
        "dz = z",
        "dz:mutated",
        ["`dz = z` gives `z` a second name", "Write the result", "The numbers of `dz` are not right either."],
        ["the sum"],
    ),
    # What is raised to a power is the base of the power, and not of the name that it gets.
    ("batch_norm_pieces", "2 * xmu * dsq", "2 * dsq", "dxmu:power-changed", ["the base of `xmu ** 2`"], ["of `sq`"]),
    # Where one number arrives at every entry it is a factor, and no gradient.
    ("decayed", "0.01 * W", "W", "dW:", ["the share through `L`"], ["`dL`"]),
    # A gradient of one share is no sum that an earlier line begins.
    (
        "mixture_nll",
        "dlogits = dlogpi",
        "dlogits = dlogits",
        "dlogits:error:no_name",
        ["where it is read"],
        ["begins above"],
    ),
    # What is divided by in a divisor is multiplied by.
    ("barlow_twins", "/ ((N - 1) * sa)", "/ ((N - 1) / sa)", "dca:factor-power:sa", ["another power"], ["divides"]),
    # A step that is made one line early is told where it is made, and the lines whose numbers are right are not blamed.
    (
        "plain_attention",
        "keepdim=True))\ndq = ds @ k / D ** 0.5\ndk = ds.T @ q / D ** 0.5",
        "keepdim=True)) / D ** 0.5\ndq = ds @ k\ndk = ds.T @ q",
        "ds:step-too-far",
        ["comes back to `q @ k.T`, inside of `s = q @ k.T / D ** 0.5`", "comes after `ds`"],
        ["exponent"],
    ),
    # A factor that the rule does not have has no other exponent there.
    (
        "plain_attention",
        "keepdim=True))\ndq",
        "keepdim=True)) * D ** -0.5\ndq",
        "ds:factor-extra",
        ["the factor `D ** -0.5` does not belong there"],
        ["exponent"],
    ),
    # Whole columns are no rows, and the line is the one that picks them.
    ("cross_entropy_fused", "torch.arange(N), y] -= 1", ":, y] -= 1", "dz:index-every-row", ["columns"], ["rows;"]),
    (
        "two_layer_net",
        "dz1 = dh1 * (z1 > 0)",
        "dh1[z1 < 0] = 0\ndz1 = dh1",
        "dh1:step-too-far",
        ["Line 7 takes `dh1` a step too far, to what comes back to `z1`", "a name of its own"],
        ["is the wrong tensor"],
    ),
    # What a line does to a gradient that is begun already: `+=` where `*=` was meant.
    (
        "cross_entropy_fused",
        "dz *= dloss / N",
        "dz += dloss / N",
        "dz:sum-for-product",
        ["`+=` adds where"],
        ["cosine"],
    ),
    # Shares side by side, and axes in another order, where no forward line shows a copy or a layout.
    ("weight_norm", "(dW * v / norm).sum(1)", "dW * v / norm", "dg:not-reduced", ["Summed along axis 1"], ["copied"]),
    ("conv1d_unfold", "nkl->kcj", "nkl->ckj", "dw:axes-permuted", ["axes in another order", "after `->`"], ["layout"]),
    ("conv1d_unfold", ",nkl->kcj", ",nkm->kcj", "dw:einsum-letter", ["the letter `l`", "meets no other"], ["cosine"]),
    # A part that leaves out as many entries at the other end, where it is read and where it is written.
    ("causal_depthwise", "dx = dp[:, 2:]", "dx = dp[:, :-2]", "dx:wrong-part", ["`dp[:, :-2]` is another part"], []),
    (
        "causal_depthwise",
        "dp[:, 1:-1] +=",
        "dp[:, 2:] +=",
        "dp:wrong-part",
        ["`dp[:, 2:]` is another part"],
        ["cosine"],
    ),
    # What cancels out is written, and one of the two should be an average.
    (
        "layer_norm_fused",
        "dnorm.mean(-1, keepdim=True) - norm",
        "dnorm - norm",
        "dinp:mean-missing",
        ["the second one in `dnorm - dnorm`, is not averaged"],
        ["is missing"],
    ),
    # Copies of the whole for copies of each entry: no axes were exchanged.
    (
        "pooled",
        ".repeat_interleave(3, 2)",
        ".repeat(1, 1, 3)",
        "dx:copies-order",
        ["`.repeat(1, 1, 3)` puts"],
        ["axes"],
    ),
    # A function that a module does not have.
    ("rms_norm", "r ** 3", "math.rsqrt(ms)", "dms:error:attribute", ["no `math.rsqrt`", "`torch.rsqrt`"], ["module"]),
    # A factor that is missing, where nothing is divided by it.
    ("cosine_rows", "dna * a / na", "dna / na", "da:divided-by:a", ["lacks the factor `a`"], ["divides by"]),
    # A term that is no share, where everything else is there.
    ("exponential_average", "+ dm1 * (m0 - x1)", "+ dm1", "db:term-off:m1", ["but the term `dm1`"], ["cosine"]),
    (
        "residual_mlp",
        "(a + 0.044715 * a ** 3)",
        "(a + 0.044715)",
        "da:factor-missing",
        ["`0.044715` lacks"],
        ["cosine"],
    ),
    # An operator is what is wrong, and not the upstream gradient of a step that the line skips.
    ("softmax_regression_steps", "dz = p * (", "dz = p + (", "dz:sum-for-product", ["adds where"], ["upstream"]),
    # What replaces a share is named before its shape, which is what that share has.
    (
        "cross_entropy_pieces",
        "dcounts += torch.ones_like(counts) * dcounts_sum",
        "dcounts = dcounts_sum",
        "dcounts:overwritten",
        ["`dcounts = dcounts_sum` replaces what an earlier line left", "the shares of `counts` add up"],
        ["unchanged", "shape"],
    ),
    # A gradient as a fraction is no factor too many.
    (
        "cross_entropy_pieces",
        "dprobs = dlogprobs / probs",
        "dprobs = dloss / dlogprobs / probs",
        "dprobs:fraction",
        ["`dloss / dlogprobs` is a quotient", "is called `dlogprobs` here"],
        ["belong"],
    ),
    (
        "cross_entropy_pieces",
        "dprobs = dlogprobs / probs",
        "dprobs = dloss / dlogprobs / counts",
        "dprobs:fraction",
        ["Two things are off.", "is called `dlogprobs` here", "`dprobs` uses `counts` where"],
        [],
    ),
    # The size of a reshape that is off, or lacking.
    ("average_pool", "H * k, W * k)", "H * k, W)", "dx:error:reshape", ["Of its sizes `W` is wrong, and"], []),
    ("causal_heads", "reshape(B, T, C)", "reshape(B, C)", "dq:error:reshape", ["size is missing behind `B`."], ["Of"]),
    ("causal_heads", "reshape(B, T, C)", "reshape(T, C)", "dq:error:reshape", ["size is missing before `T`."], ["Of"]),
    ("causal_heads", "reshape(B, T, C)", "reshape(T, h)", "dq:error:reshape", ["another number"], ["Of", "missing"]),
    # Of several forward lines with a product the one that reads what is multiplied; and a size below zero.
    ("graph_attention", "p.T @ dy", "p.T * dy", "dh:error:broadcast", ["In `y = p @ h`"], ["sl"]),
    ("average_pool", "W, k * k)", "W, k * -k)", "dtiles:error:negative", ["a size is negative"], ["Runtime", "numel"]),
    # An index that does not exist, and the line that makes it.
    ("makemore_mlp", "ix = Xb[k, j]", "ix = 2 * Xb[k, j]", "dC:error:index", ["`ix` is made in line 15."], []),
    # A sum that is missing in one of two terms.
    ("graph_convolution", "isd[None, :]).sum(1)", "isd[None, :])", "disd:sum-missing", ["isd[None, :]` is not"], []),
    # Where the author's own line borrows a gradient, other lines are read on the true ones as well.
    ("linear_solve", "outer(db, x)", "outer(dx, x)", "dM:wrong-upstream:dx", ["`dx` is the wrong tensor"], ["cosine"]),
    # A division by what a forward line divides by and a size, in each share.
    (
        "group_norm",
        " / (L * torch.sqrt(var + 1e-05))",
        "",
        "dxg:divisor-missing",
        ["a division by `torch.sqrt(var + 1e-5)`", "is exactly `xg.shape[2]` times too large"],
        ["cosine"],
    ),
    # What is put into `F.fold`, and the window that it is given.
    ("im2col", "F.fold(dcols", "F.fold(cols", "dx:wrong-operand:cols", ["`cols` is the wrong tensor"], ["cosine"]),
    ("im2col", "F.fold(dcols", "F.fold(dcols * cols", "dx:factor-extra:cols", ["the factor `cols`"], ["division"]),
    ("im2col", "(S, S), 3", "(S, S), 5", "dx:error:folded", ["27 numbers each", "a window of (5, 5)"], ["Runtime"]),
    # A place is told once.
    ("maxout", "g = dz.resh", "g = 2 * dz.resh", "dx:doubled", ["in line 5"], ["It stands in line"]),
]


@pytest.mark.in_turn
@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]}-{row[2]}" for row in ROWS])
def test_what_is_said_is_so_of_the_text(engine: Engine, row: tuple[str, str, str, str, list[str], list[str]]) -> None:
    name, old, new, code, said, unsaid = row
    program = BY_NAME[name]
    solution = "\n".join(ast.unparse(line) for line in ast.parse(program.solution).body)
    assert old in solution

    told = engine.check(program.task, solution.replace(old, new, 1)).names
    (red,) = [one for one in told if one.verdict not in QUIET]

    assert (red.code or "").startswith(code)
    for text in said:
        assert text in red.message
    for text in unsaid:
        assert text not in red.message


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("rnn_loop", "before = h[:, t - 1]", "before = da[:, t - 1]", "`da` does not exist yet: it is made in line 8"),
        ("rnn_loop", "dh[:, t] + carry", "dh[:, t] + da", "`da` does not exist yet: it is what this line makes. Is"),
        ("tied_embeddings", "dE = ", "dE.add_(E)\ndE = ", "`dE` does not exist yet: it is made in line"),
    ],
)
def test_a_name_that_is_read_too_early_is_made_where_the_sentence_says(
    engine: Engine, name: str, old: str, new: str, said: str
) -> None:
    program = BY_NAME[name]

    message = engine.check(program.task, program.solution.replace(old, new, 1)).message

    assert said in message


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("maxout", "dz.reshape(N, H * k)", "dz.reshape(N, H)", "Of its sizes `H` is wrong, and the others are right."),
        (
            "rnn_loop",
            "reversed(range(T))",
            "range(T, -1, -1)",
            "The loop in line 6 goes through `range(T, -1, -1)`; with",
        ),
        ("rnn_loop", "carry = da @ Wh.T", "carry = da * Wh.T", "a matrix product, `@`, stands here in the rule."),
    ],
)
def test_a_step_that_stops_is_tried_in_the_gradients_made_of_it(
    engine: Engine, name: str, old: str, new: str, said: str
) -> None:
    message = engine.check(BY_NAME[name].task, BY_NAME[name].solution.replace(old, new, 1)).message

    assert said in message


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize(
    ("name", "old", "new", "gradient", "said"),
    [
        # An axis that was kept is no sum that was forgotten.
        ("rnn_loop", "db += da.sum(0)", "db += da.sum(0, keepdim=True)", "db", "an axis of size 1 is one too many"),
        # A line that stopped on the learner's own numbers is not right given those.
        ("rnn_steps", "dh1 = da2 @ Wh.T", "dh1 = (da2 @ Wh.T).mT", "dWh", "Right as it stands; it waits for `dh1`."),
        # What a line reads itself is named before what that is made of.
        ("rnn_loop", "(1 - h[:, t] ** 2)", "(1 - 2 * h[:, t] ** 2)", "dWx", "It reads `da`"),
        ("plain_attention", "dp = do", "p.mul_(2)\ndp = do", "ds", "may be changed by another line: begin at `dv`"),
        # A line whose numbers are right takes no blame for the one that is ahead of itself.
        (
            "plain_attention",
            "keepdim=True))\ndq = ds @ k / D ** 0.5",
            "keepdim=True)) / D ** 0.5\ndq = ds @ k",
            "dq",
            "Its numbers are right: what this line lacks is in `ds` already.",
        ),
        # Nothing arrives through what is detached.
        (
            "actor_critic",
            "dret = -dv",
            "dret = -dv + 0 * dactor",
            "dret",
            "takes its numbers from `dactor`, `dv`, and the rule starts from `dcritic`.",
        ),
    ],
)
def test_what_is_said_beside_the_slip_is_so(
    engine: Engine, name: str, old: str, new: str, gradient: str, said: str
) -> None:
    program = BY_NAME[name]
    solution = "\n".join(ast.unparse(line) for line in ast.parse(program.solution).body)
    assert old in solution

    told = engine.check(program.task, solution.replace(old, new, 1)).names

    assert said in next(one.message for one in told if one.name == gradient)


def test_a_step_that_is_right_takes_no_blame_for_a_second_slip(engine: Engine) -> None:
    program = BY_NAME["rnn_steps"]
    code = program.solution
    for old, new in ((" + x3.T @ da3", ""), ("da1.sum(0) + da2.sum(0) + da3.sum(0)", "(da1 + da2 + da3).mean(0)")):
        assert old in code
        code = code.replace(old, new, 1)

    told = engine.check(program.task, code).names

    assert [one.name for one in told if one.verdict not in QUIET] == ["dWx", "db"]


def test_a_line_that_reads_nothing_of_what_was_changed_stays_right(engine: Engine) -> None:
    program = BY_NAME["conv1d_unfold"]
    code = program.solution.replace("dx[:, :, j:j + L - k + 1] +=", "x[:, :, j:j + L - k + 1] +=")

    verdicts = {name.name: name.verdict for name in engine.check(program.task, code).names}

    assert verdicts["db"] == "right"
    assert verdicts["dx"] in {"wrong", "mutated"}


def test_a_line_that_reads_nothing_of_the_one_that_stopped_is_run(engine: Engine) -> None:
    program = BY_NAME["bilinear_ratings"]
    code = program.solution.replace("dt = dpred[:, None] * q", "dt = dpred[:, None] @ q")

    verdicts = {name.name: name.verdict for name in engine.check(program.task, code).names}

    assert {name for name, verdict in verdicts.items() if verdict != "right"} == {"dt", "dp", "dR", "dP"}


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("additive_attention", "dkeys = alpha.unsqueeze(-1) *", "dkeys = -alpha.unsqueeze(-1) *"),
        ("additive_attention", "dkeys = dkeys + db @ Wk.T", "dkeys = dkeys + 2 * db @ Wk.T"),
        ("cross_entropy_fused", "dz[torch.arange(N), y] -= 1", "dz[:, y] -= 1"),
        # A share that is missing, or comes to nothing: in the line that has it, or has entries for it.
        ("reinforce", "dlogp = dp * p - dent / T * p", "dlogp = dp * p"),
        ("reinforce", "dlogp = dp * p - dent / T * p", "dlogp = -(dent / T * p)"),
        ("reinforce", "+= dchosen", "+= 0 * dchosen"),
        ("tied_embeddings", "btc->vc', dlogits, h)", "btc->vc', logits, h)"),
        # A term of a rule with a factor of its own: in the line that writes the term, or in its helper.
        ("cross_entropy_fused", "dz[torch.arange(N), y] -= 1", "dz[torch.arange(N), y] -= 2 * 1"),
        ("cross_entropy_fused", "dz[torch.arange(N), y] -= 1", "dz[torch.arange(N), y] += 1"),
        ("cross_entropy_fused", "dz = F.softmax(z, 1)", "dz = -F.softmax(z, 1)"),
        ("makemore_mlp", "dlogits[torch.arange(n), Yb] -= 1", "dlogits[torch.arange(n), Yb] -= 2"),
        ("token_position", "cdf = 0.5 * (1 +", "cdf = 0.5 * -(1 +"),
        ("token_position", "de = da * (cdf + e * pdf)", "de = da * (-cdf + e * pdf)"),
    ],
)
def test_of_several_lines_the_one_with_the_slip_is_marked(engine: Engine, name: str, old: str, new: str) -> None:
    program = BY_NAME[name]
    code = "\n".join(ast.unparse(line) for line in ast.parse(program.solution).body).replace(old, new, 1)

    (red,) = [one for one in engine.check(program.task, code).names if one.verdict not in QUIET]

    assert red.line == 1 + next(at for at, line in enumerate(code.splitlines()) if new in line)
