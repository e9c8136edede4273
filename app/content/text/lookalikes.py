"""Signs that people paste or that phones write, and what they mean: in code, and in sums."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lookalikes:
    """Signs of one kind with what each means, and the sentence that says so; some have no meaning *in_sums*."""

    meant: Mapping[str, str]
    notice: str
    in_sums: bool = True


LOOKALIKES = (
    Lookalikes(
        dict.fromkeys("‘’‚‛", "'") | dict.fromkeys("“”„‟«»", '"'), "Curly quotes were read as plain ones.", False
    ),
    Lookalikes(dict.fromkeys("−–—‐‑", "-"), "A typographic minus sign was read as `-`."),
    Lookalikes(dict.fromkeys("×·∙⋅", "*"), "A multiplication sign was read as `*`."),
    Lookalikes(dict.fromkeys("÷∕⁄", "/"), "A division sign was read as `/`."),
    Lookalikes({"≤": "<=", "≥": ">=", "≠": "!="}, "A comparison sign was read as `<=`, `>=` or `!=`.", False),
    Lookalikes(
        dict.fromkeys("\u00a0\u2007\u202f\u2009\u2002\u2003\u3000", " "), "Special spaces were read as plain ones."
    ),
    Lookalikes(dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", ""), "Invisible characters were left out."),
    Lookalikes(dict.fromkeys("\u2028\u2029", "\n"), "Special line ends were read as plain ones."),
)
IN_CODE = str.maketrans({sign: plain for lookalikes in LOOKALIKES for sign, plain in lookalikes.meant.items()})
IN_SUMS = str.maketrans(
    {sign: plain for lookalikes in LOOKALIKES if lookalikes.in_sums for sign, plain in lookalikes.meant.items()}
)
