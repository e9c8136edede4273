"""Wrong lines are named by their code, in the tensor that they write and in no other; right lines are never wrong."""

import tomllib
from pathlib import Path

import pytest

from app.grading.diagnosis.diagnose import describe_unrecognised, diagnose

HERE = Path(__file__).parent
NETWORK = tomllib.loads((HERE / "network_variants.toml").read_text())["variant"]
BOXES = tomllib.loads((HERE / "box_variants.toml").read_text())["variant"]
ALTERNATIVES = tomllib.loads((HERE / "alternatives.toml").read_text())["alternative"]


def with_line(solution, row):
    lines = solution.strip("\n").split("\n")
    lines[lines.index(row["line"])] = row["becomes"]
    return "\n".join(lines)


def named(row):
    return f"{row['becomes'].strip()} [{row.get('code', '')}]"


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("row", NETWORK, ids=named)
def test_a_wrong_line_of_the_network_has_its_code(beds, row):
    bed = beds("network")

    cases = bed.judged(with_line(bed.box.solution, row))

    assert [f"d{tensor}" for tensor in cases] == [row["code"].split(":")[0]]
    found = diagnose(next(iter(cases.values())))
    assert found is not None
    assert found.code == row["code"]


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("row", BOXES, ids=lambda row: f"{row['box']} {named(row)}")
def test_a_wrong_line_of_a_box_has_its_code(beds, row):
    bed = beds(row["box"])

    cases = bed.judged(with_line(bed.box.solution, row))

    first = next(tensor for tensor in bed.required if tensor in cases)
    found = diagnose(cases[first])
    assert found is not None
    assert found.code == row["code"]


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("row", ALTERNATIVES, ids=named)
def test_a_right_line_is_not_called_wrong(beds, row):
    bed = beds("network")

    assert bed.judged(with_line(bed.box.solution, row)) == {}


def test_there_are_enough_variants():
    assert len(NETWORK) >= 150
    assert len(ALTERNATIVES) >= 20


@pytest.mark.in_turn(turns=4)
@pytest.mark.parametrize("row", [*NETWORK[::7], *BOXES[::7]], ids=named)
def test_a_message_speaks_of_the_learners_own_tensor(beds, row):
    bed = beds(row.get("box", "network"))
    cases = bed.judged(with_line(bed.box.solution, row))
    case = cases[next(tensor for tensor in bed.required if tensor in cases)]

    message = diagnose(case).message

    assert f"`{case.name}`" in message or f"`{case.tensor}`" in message
    assert message[0].isupper() or message[0] in "`e"
    assert message.endswith(".")
    assert "{" not in message
    assert message.count("`") % 2 == 0


def test_what_no_table_holds_is_described_by_facts_alone(beds):
    bed = beds("network")
    row = {"line": "dh = dlogits @ W2.T", "becomes": "dh = torch.sin(dlogits @ W2.T + h)"}
    case = bed.judged(with_line(bed.box.solution, row))["h"]

    assert diagnose(case) is None
    facts = describe_unrecognised(case)

    assert facts.code == "dh:unrecognised"
    assert "cosine" in facts.message
    assert "times that of the reference" in facts.message


@pytest.mark.parametrize(
    ("line", "becomes", "sizes"),
    [
        ("db2 = dlogits.sum(0)", "db2 = dlogits", ["`(32, 27)`", "`(27,)`", "32 times"]),
        ("dh = dlogits @ W2.T", "dh = W2 @ dlogits", []),
        (
            "dbngain = (bnraw * dhpreact).sum(0, keepdim=True)",
            "dbngain = (bnraw * dhpreact).sum(0)",
            ["`(64,)`", "`(1, 64)`"],
        ),
        ("db1 = dhprebn.sum(0)", "db1 = dhprebn.sum(1)", ["32 times"]),
    ],
)
def test_a_message_names_the_lessons_own_sizes(beds, line, becomes, sizes):
    bed = beds("network")
    cases = bed.judged(with_line(bed.box.solution, {"line": line, "becomes": becomes}))

    for case in cases.values():
        message = diagnose(case).message
        assert all(size in message for size in sizes)
