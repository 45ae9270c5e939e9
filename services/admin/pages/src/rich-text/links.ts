import { toggleMark } from 'prosemirror-commands';
import type { Mark } from 'prosemirror-model';
import type { Command, EditorState } from 'prosemirror-state';
import { schema } from './schema.ts';

const { link } = schema.marks;

/** A link around the selection's start, with its positions. */
function findLink({ selection }: EditorState): { mark: Mark; from: number; to: number } | undefined {
  const { $from } = selection;
  const mark = link.isInSet($from.marks()) ?? link.isInSet($from.nodeAfter?.marks ?? []);
  if (!mark) return undefined;
  // A link may be in several pieces, such as one in bold.
  const pieces: { from: number; to: number }[] = [];
  $from.parent.forEach((node, offset) => {
    if (!mark.isInSet(node.marks)) return;
    const from = $from.start() + offset;
    const last = pieces.at(-1);
    if (last?.to === from) last.to = from + node.nodeSize;
    else pieces.push({ from, to: from + node.nodeSize });
  });
  const piece = pieces.find(({ from, to }) => from <= $from.pos && $from.pos <= to);
  return piece && { mark, ...piece };
}

/** Returns the address of the link at the selection. */
export const linkAt = (state: EditorState): string | undefined => findLink(state)?.mark.attrs.href;

/** Links the selection, or changes the link that it is in. */
export const setLink =
  (href: string): Command =>
  (state, dispatch, view) => {
    const found = findLink(state);
    if (!found) return toggleMark(link, { href })(state, dispatch, view);
    const { mark, from, to } = found;
    dispatch?.(state.tr.addMark(from, to, link.create({ ...mark.attrs, href })));
    return true;
  };

/** Removes the link that the selection is in. */
export const removeLink: Command = (state, dispatch) => {
  const found = findLink(state);
  if (found) dispatch?.(state.tr.removeMark(found.from, found.to, link));
  return found !== undefined;
};

/** Inserts an image. */
export const addImage =
  (src: string, alt: string): Command =>
  (state, dispatch) => {
    dispatch?.(state.tr.replaceSelectionWith(schema.nodes.image.create({ src, alt: alt || null })).scrollIntoView());
    return true;
  };
