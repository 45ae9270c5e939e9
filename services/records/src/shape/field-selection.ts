import type { FieldAccess } from '@recordbus/query';
import { type Collection, type RecordColumn, recordColumns } from '@recordbus/schema';

/** The members that `fields` selects, in a record or in an object within it. */
export interface FieldSelection {
  /** The selection within a member; undefined for a member that is not selected. */
  member(name: string): FieldSelection | undefined;
  /** The same for a member that costs more, which only its name selects: not `*`, and not a missing `fields`. */
  named(name: string): FieldSelection | undefined;
}

/** Selects every member. */
export const everything: FieldSelection = { member: () => everything, named: () => undefined };

/** A tree of selected names; `isWhole` when a path ends at this node. */
interface Node {
  isWhole: boolean;
  readonly members: Map<string, Node>;
}

/**
 * Reads `fields`: a comma-separated member list, whose dotted paths lead into `expand` (records §11). `*` selects every
 * member that is not named elsewhere in the list, as in PocketBase. Unknown names are ignored. Without `fields`, every
 * member is selected.
 */
export function readFieldSelection(fields: string | undefined): FieldSelection {
  if (fields === undefined) return everything;
  const root: Node = { isWhole: false, members: new Map() };
  for (const path of fields.split(',')) {
    let node = root;
    for (const name of path.split('.')) {
      const known = node.members.get(name.trim()) ?? { isWhole: false, members: new Map() };
      node.members.set(name.trim(), known);
      node = known;
    }
    node.isWhole = true;
  }
  return selectionOf(root);
}

const selectionOf = ({ members }: Node): FieldSelection => ({
  member(name) {
    const node = members.get(name) ?? members.get('*');
    return node && (node.isWhole ? everything : selectionOf(node));
  },
  named(name) {
    const node = members.get(name);
    return node && (node.isWhole ? everything : selectionOf(node));
  },
});

/** A record's selected columns that the caller may view. `id` is always included. */
export const selectedColumns = (
  collection: Collection,
  selection: FieldSelection,
  { closed }: Pick<FieldAccess, 'closed'>,
): readonly RecordColumn[] =>
  recordColumns(collection).filter(({ name }) => !closed.has(name) && (name === 'id' || selection.member(name)));
