import { lift, setBlockType, toggleMark, wrapIn } from 'prosemirror-commands';
import { redo, undo } from 'prosemirror-history';
import type { MarkType, NodeType } from 'prosemirror-model';
import { liftListItem, wrapInList } from 'prosemirror-schema-list';
import { type Command, type EditorState, TextSelection } from 'prosemirror-state';
import {
  addColumnAfter,
  addRowAfter,
  deleteColumn,
  deleteRow,
  deleteTable,
  isInTable,
  toggleHeaderRow,
} from 'prosemirror-tables';
import { schema } from './schema.ts';

const { nodes, marks } = schema;

/** A button above the editor. */
export interface Tool {
  readonly label: string;
  /** The keys that do the same, with `Mod` for Ctrl or Cmd. */
  readonly keys?: string;
  readonly run: Command;
  /** Whether the selection already has it. Undefined for a tool that only adds. */
  readonly isOn?: (state: EditorState) => boolean;
}

/** Whether a mark is on at the selection. */
export function hasMark({ selection, storedMarks, doc }: EditorState, type: MarkType): boolean {
  const { from, to, empty, $from } = selection;
  return empty ? type.isInSet(storedMarks ?? $from.marks()) !== undefined : doc.rangeHasMark(from, to, type);
}

/** The closest node of a type around the selection. */
function isWithin({ selection: { $from } }: EditorState, type: NodeType): boolean {
  for (let depth = $from.depth; depth > 0; depth -= 1) if ($from.node(depth).type === type) return true;
  return false;
}

const markTool = (label: string, type: MarkType, keys?: string): Tool => ({
  label,
  ...(keys && { keys }),
  run: toggleMark(type),
  isOn: (state) => hasMark(state, type),
});

/** Turns the selection into a list; a list of this type back into paragraphs; the other type into this one. */
const listCommand =
  (type: NodeType): Command =>
  (state, dispatch, view) =>
    isWithin(state, type)
      ? liftListItem(nodes.list_item)(state, dispatch, view)
      : wrapInList(type)(state, dispatch, view);

export const bold = markTool('Bold', marks.strong, 'Mod-b');
export const italic = markTool('Italic', marks.em, 'Mod-i');
export const underline = markTool('Underline', marks.underline, 'Mod-u');
export const strike = markTool('Strikethrough', marks.strike, 'Mod-Shift-x');
export const code = markTool('Code', marks.code, 'Mod-e');

export const bullets: Tool = {
  label: 'Bullet list',
  keys: 'Mod-Shift-8',
  run: listCommand(nodes.bullet_list),
  isOn: (state) => isWithin(state, nodes.bullet_list),
};
export const numbers: Tool = {
  label: 'Numbered list',
  keys: 'Mod-Shift-7',
  run: listCommand(nodes.ordered_list),
  isOn: (state) => isWithin(state, nodes.ordered_list),
};
export const quote: Tool = {
  label: 'Quote',
  keys: 'Mod-Shift-9',
  run: (state, dispatch, view) =>
    isWithin(state, nodes.blockquote) ? lift(state, dispatch) : wrapIn(nodes.blockquote)(state, dispatch, view),
  isOn: (state) => isWithin(state, nodes.blockquote),
};
export const line: Tool = {
  label: 'Line',
  run: (state, dispatch) => {
    dispatch?.(state.tr.replaceSelectionWith(nodes.horizontal_rule.create()).scrollIntoView());
    return true;
  },
};
export const undoTool: Tool = { label: 'Undo', keys: 'Mod-z', run: undo };
export const redoTool: Tool = { label: 'Redo', keys: 'Mod-Shift-z', run: redo };

/** Inserts a table with a header row. */
export const table: Tool = {
  label: 'Table',
  run: (state, dispatch) => {
    if (isInTable(state)) return false;
    const row = (type: NodeType) =>
      nodes.table_row.create(
        null,
        [1, 2, 3].flatMap(() => type.createAndFill() ?? []),
      );
    const rows = [row(nodes.table_header), row(nodes.table_cell), row(nodes.table_cell)];
    const change = state.tr.replaceSelectionWith(nodes.table.create(null, rows));
    const start = change.mapping.map(state.selection.from, -1);
    dispatch?.(change.setSelection(TextSelection.near(change.doc.resolve(start))).scrollIntoView());
    return true;
  },
};
/** Shown while the selection is in a table. */
export const tableTools: readonly Tool[] = [
  { label: 'Add row', run: addRowAfter },
  { label: 'Add column', run: addColumnAfter },
  { label: 'Delete row', run: deleteRow },
  { label: 'Delete column', run: deleteColumn },
  { label: 'Header row', run: toggleHeaderRow },
  { label: 'Delete table', run: deleteTable },
];

/** The kinds of blocks that a line of text can be. */
export const blocks: readonly (readonly [label: string, run: Command, isOn: (state: EditorState) => boolean])[] = [
  ['Paragraph', setBlockType(nodes.paragraph), ({ selection }) => selection.$from.parent.type === nodes.paragraph],
  ...[1, 2, 3, 4].map(
    (level) =>
      [
        `Heading ${level}`,
        setBlockType(nodes.heading, { level }),
        ({ selection: { $from } }: EditorState) =>
          $from.parent.type === nodes.heading && $from.parent.attrs.level === level,
      ] as const,
  ),
  ['Code block', setBlockType(nodes.code_block), ({ selection }) => selection.$from.parent.type === nodes.code_block],
];

/** Every tool that has keys. */
export const keyedTools: readonly Tool[] = [
  bold,
  italic,
  underline,
  strike,
  code,
  bullets,
  numbers,
  quote,
  undoTool,
  redoTool,
];
