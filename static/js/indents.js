// What is wrapped of a line in the editor begins right of where the line does: further left, Python would read it as another block.
import { RangeSetBuilder } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin } from "@codemirror/view";

const DEEPEST = 24; // columns; the page's policy allows no style of a single line, so each indent has a class

const classes = Array.from({ length: DEEPEST }, (_, at) => Decoration.line({ class: `cm-indent-${at + 1}` }));
const look = EditorView.theme(
  Object.fromEntries(classes.map((_, at) => [`.cm-line.cm-indent-${at + 1}`, { "--indent": `${at + 1}ch` }])),
);

function indents({ state, visibleRanges }) {
  const found = new RangeSetBuilder();
  for (const { from, to } of visibleRanges) {
    for (let line = state.doc.lineAt(from); ; line = state.doc.line(line.number + 1)) {
      const columns = line.text.length - line.text.trimStart().length;
      if (columns) found.add(line.from, line.from, classes[Math.min(columns, DEEPEST) - 1]);
      if (line.to >= to || line.number === state.doc.lines) break;
    }
  }
  return found.finish();
}

class Indents {
  constructor(view) {
    this.decorations = indents(view);
  }

  update({ docChanged, viewportChanged, view }) {
    if (docChanged || viewportChanged) this.decorations = indents(view);
  }
}

export const hanging = [look, ViewPlugin.fromClass(Indents, { decorations: ({ decorations }) => decorations })];
