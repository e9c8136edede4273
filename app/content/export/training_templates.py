"""The cells of a training run in an export: Python with places for what a lesson and its learner bring.

`$FORWARD` and other capitals are theirs; `$rows` and other small names are variables of the loop, called otherwise
where the lesson uses their name. A place that stands alone on its line takes several lines.
"""

from collections.abc import Mapping

TEMPLATES: Mapping[str, str] = {
    "names": """
$listed = backhand_training.listed("names.txt")
$shuffled = list($listed)
random.Random(42).shuffle($shuffled)
$first, $second = int(0.8 * len($shuffled)), int(0.9 * len($shuffled))
$parts = {"train": $shuffled[:$first], "validation": $shuffled[$first:$second], "test": $shuffled[$second:]}
$symbols = ".abcdefghijklmnopqrstuvwxyz"


def $examples(listed, width):
    contexts, following = [], []
    for name in listed:
        context = [0] * width
        for symbol in name + ".":
            number = $symbols.index(symbol)
            contexts.append(context)
            following.append(number)
            context = context[1:] + [number]
    return torch.tensor(contexts), torch.tensor(following)


$data = {$part: $examples($some, $WIDTH) for $part, $some in $parts.items()}
print(f"{len($listed):,} names;", ", ".join(f"{len(one[1]):,} {$part} examples" for $part, one in $data.items()))
""",
    "START": """
$steps$CHANGING = $STEPS$CHANGED
$FIXED


def $fresh():
    $dice = torch.Generator().manual_seed($SEED)
    $DRAWN
    return $dice, [$PARAMETERS]
""",
    "DRAW": """
$rows = torch.randint(0, len($following), ($N,), generator=$dice)
$BATCH = $contexts[$rows], $following[$rows]
""",
    "DESCEND": """
$rate = $EARLY if $step < $steps / 2 else $LATE
for $parameter, $gradient in zip($learning, $gradients):
    $parameter -= $rate * $gradient
""",
    "loop": """
$START

$dice, $learned = $fresh()
$UNPACKED = $learning = $learned
$contexts, $following = $data["train"]
$losses, $own, $last = [], None, None
with backhand_training.loop("$ASKS"):
    for $step in range($steps + 1):
        $DRAW

        # forward
        $FORWARD

        # backward: your lines
        d$OUTPUT = torch.tensor(1.0)
        $OWN

        $gradients = backhand_training.ready($learned, $BY_NAME)
        if $step == $steps:
            $own, $last = $gradients, ($BATCH)  # a fresh batch for the trained model: it is compared below
            break
        $losses.append($OUTPUT.item())
        $DESCEND
        if $step % max(1, $steps // 10) == 0:
            print(f"step {$step:>7,}: loss of this batch {$losses[-1]:.4f}")
""",
    "plain loop": """
$START

$dice, $learning = $fresh()
$UNPACKED = $learning
$contexts, $following = $data["train"]
for $step in range($steps):
    $DRAW

    # forward
    $FORWARD

    # backward: your lines
    $PLAIN_OWN

    $gradients = [$GRADIENTS]
    $DESCEND
""",
    "witness": """
# The same start and the same batches, with autograd's gradients.
$dice, $learning = $fresh()
$reference = []
with torch.enable_grad():
    $UNPACKED = (one.requires_grad_() for one in $learning)
    for $step in range($steps):
        $DRAW
        $FORWARD
        $gradients = torch.autograd.grad($OUTPUT, $learning)
        $reference.append($OUTPUT.item())
        with torch.no_grad():
            $DESCEND
backhand_training.table($losses, $reference)
""",
    "CALIBRATION": """
# Calibration: $HELD of the whole training data, from here on constants.
$BATCH = $data["train"]
$N = len($TARGET)
$MEASURED
""",
    "judged": """
$UNPACKED = $learned
$CALIBRATION


def $judged($BATCH):
    $N = len($TARGET)
    $REST
    return $LOGITS, $OUTPUT


for $part, ($contexts, $following) in $data.items():
    $pieces = list(zip($contexts.split(4096), $following.split(4096)))
    $total = sum($judged(*piece)[1].item() * len(piece[1]) for piece in $pieces)
    print(f"loss, {$part}: {$total / len($following):.4f}")
""",
    "sampled": """
$dice = torch.Generator().manual_seed($SEED + $SAMPLING)
for $turn in range(20):
    $context, $name = [0] * $WIDTH, ""
    while len($name) < 30:
        $scores = $judged(torch.tensor([$context]), torch.zeros(1, dtype=torch.int64))[0]
        $number = int(torch.multinomial(torch.softmax($scores[0], 0), 1, generator=$dice))
        if $number == 0:
            break
        $name, $context = $name + $symbols[$number], $context[1:] + [$number]
    print($name)
""",
    "compared": """
# The gradients of a fresh batch of the trained model: yours beside autograd's.
$BATCH = $last or ($contexts[:$N_SIZE], $following[:$N_SIZE])
$N = len($TARGET)
with torch.enable_grad():
    $leaves = [one.clone().requires_grad_() for one in $learned]
    $UNPACKED = $leaves
    $FORWARD
    $reference = torch.autograd.grad($OUTPUT, $leaves)
$asked = [$ASKED]
backhand.asked = dict(zip($asked, zip($own or [None] * len($asked), $reference)))
backhand.compare()
""",
}
