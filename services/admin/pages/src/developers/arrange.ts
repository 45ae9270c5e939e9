import { Graph, layout } from '@dagrejs/dagre';
import type { CollectionDefinition } from '@recordbus/client';

/** A collection's box, by its upper left corner. */
interface Box {
  readonly name: string;
  readonly type: string;
  /** The relations, and how many other fields there are. */
  readonly lines: readonly string[];
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A relation field's line. */
interface Line {
  readonly id: string;
  readonly path: string;
  readonly label: string;
}

export interface Diagram {
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
  readonly width: number;
  readonly height: number;
}

const headHeight = 30;
const lineHeight = 18;
/** An average letter's width in the diagram's font. */
const letterWidth = 7;
const longestName = 26;

/** Shortens a name to the box's width. */
export const shortName = (name: string): string =>
  name.length > longestName ? `${name.slice(0, longestName - 1)}…` : name;

const relationsOf = ({ fields }: CollectionDefinition) =>
  fields.filter(({ type, collection }) => type === 'relation' && collection !== undefined);

function linesOf(collection: CollectionDefinition): string[] {
  const relations = relationsOf(collection).map(({ name, options }) => `${name}${options?.multiple ? ' []' : ''}`);
  const others = collection.fields.length - relations.length;
  return [...relations, `${others} ${relations.length > 0 ? 'other ' : ''}field${others === 1 ? '' : 's'}`].map(
    shortName,
  );
}

/** Arranges collections so that relations point to the right. */
export function arrange(collections: readonly CollectionDefinition[]): Diagram {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 24, ranksep: 70, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  const byName = new Map(collections.map((one) => [one.name, one]));
  for (const one of collections) {
    const lines = linesOf(one);
    const longest = Math.max(...[shortName(one.name), ...lines].map((text) => text.length));
    graph.setNode(one.name, {
      width: Math.max(120, longest * letterWidth + 24),
      height: headHeight + lines.length * lineHeight + 8,
    });
  }
  for (const one of collections)
    for (const { name, collection } of relationsOf(one))
      if (collection !== undefined && byName.has(collection)) graph.setEdge(one.name, collection, {}, name);
  layout(graph);
  const boxes = collections.map((one) => {
    const { x = 0, y = 0, width = 0, height = 0 } = graph.node(one.name);
    return { name: one.name, type: one.type, lines: linesOf(one), x: x - width / 2, y: y - height / 2, width, height };
  });
  const lines = graph.edges().map((edge) => {
    const points: readonly { readonly x: number; readonly y: number }[] = graph.edge(edge).points ?? [];
    return {
      id: `${edge.v} ${edge.name} ${edge.w}`,
      label: `${edge.v}.${edge.name} → ${edge.w}`,
      path: points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${Math.round(x)} ${Math.round(y)}`).join(' '),
    };
  });
  const { width = 0, height = 0 } = graph.graph();
  return { boxes, lines, width, height };
}
