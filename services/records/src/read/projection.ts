import { type Collection, type RecordColumn, recordColumns } from '@recordbus/schema';

/** Which members a client wants to see, of a record or of something within it. */
export interface Projection {
  /** What is wanted of a member; undefined when it is not. */
  into(name: string): Projection | undefined;
}

const everything: Projection = { into: () => everything };

/** Names of a projection and what is wanted below them; `isWhole` when one of them ends here. */
interface Node {
  isWhole: boolean;
  readonly members: Map<string, Node>;
}

/**
 * Reads `fields`: a comma-separated whitelist of members (interface §4.5), whose dotted paths go into `expand`
 * (contract §2). `*` stands for every member that is not named beside it, as users of PocketBase know it. Names that
 * nothing has are ignored (contract §8). Without `fields` everything is wanted.
 */
export function readProjection(fields: string | undefined): Projection {
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
  return projectionOf(root);
}

const projectionOf = ({ members }: Node): Projection => ({
  into(name) {
    const node = members.get(name) ?? members.get('*');
    return node && (node.isWhole ? everything : projectionOf(node));
  },
});

/** The columns of a record that are wanted; `id` always is. */
export const project = (collection: Collection, projection: Projection): readonly RecordColumn[] =>
  recordColumns(collection).filter(({ name }) => name === 'id' || projection.into(name));
