// Typographic characters that word processors and phones put in place of the ones Python reads.
const plain = [
  [/[\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033]/g, '"', "curly quotes"],
  [/[\u2018\u2019\u201a\u201b\u2032]/g, "'", "curly quotes"],
  [/[\u2212\u2010\u2011\u2012\u2013\u2014\ufe63\uff0d]/g, "-", "a typographic minus"],
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " ", "unusual spaces"],
  [/[\u200b\u200c\u200d\u2060\ufeff]/g, "", "invisible characters"],
  [/\t/g, "    ", "tabs"],
  [/\r\n?/g, "\n", null],
];

/** The text as Python wants it, and the names of what was replaced. */
export function normalised(text) {
  const replaced = new Set();
  for (const [pattern, put, name] of plain) {
    const next = text.replace(pattern, put);
    if (next !== text && name) replaced.add(name);
    text = next;
  }
  return { text, replaced: [...replaced] };
}
