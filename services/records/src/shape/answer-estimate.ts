import type { SqlTarget } from '@recordbus/query';
import { type Collection, fieldTypeOf, quoteIdentifier, recordColumns } from '@recordbus/schema';
import { estimateTable } from './answer-limit.ts';
import type { Expansion } from './expansion.ts';
import { selectedColumns } from './field-selection.ts';
import { type Projection, type StatementContext, selectedExpansions } from './record-json.ts';
import { ifVisible, selectRelated } from './related-records.ts';

/**
 * Composes a table expression with the bytes that an answer has at least; null if they are within the limit. The
 * statement reads it at most once, and only for answers larger than a mebibyte. `page` is a FROM item whose rows `p`
 * are the answer's records.
 *
 * The records count first, then the relations that they expand, then those within them. The first sum beyond the limit
 * ends the estimate. No stored text is decompressed or read from TOAST for it.
 */
export function composeEstimate(projection: Projection, page: string, context: StatementContext): string {
  const maxBytes = context.parameters.named('maxBytes', 'bigint');
  const place = { row: 'p', parameters: context.parameters, isTable: true };
  const hops = Array.from({ length: 1 + estimatedDepth(projection) }, (_, depth) => {
    const bytes = bytesAt(depth, projection, place, context);
    // The running sum ends at the first row beyond the limit.
    const sums = `select sum(${bytes}) over (rows unbounded preceding)::bigint as bytes from ${page}`;
    return `(select s.bytes from (${sums}) s where s.bytes > ${maxBytes} limit 1)`;
  });
  return `${estimateTable} as materialized (select coalesce(${hops.join(', ')}) as bytes)`;
}

/** How many relations an estimate follows at most: PostgreSQL plans 50 in 50 ms. */
const maxFollowed = 30;

function estimatedDepth({ expansions }: Projection): number {
  const max = depthOf(expansions);
  let followed = 0;
  for (let depth = 1; depth <= max; depth += 1) {
    followed += countAt(depth, expansions);
    if (followed > maxFollowed) return depth - 1;
  }
  return max;
}

/** How many relations the bytes at a depth follow. */
const countAt = (depth: number, expansions: readonly Expansion[] = []): number =>
  expansions
    .filter((expansion) => depthOf([expansion]) >= depth)
    .reduce((sum, { inner }) => sum + 1 + (depth > 1 ? countAt(depth - 1, inner) : 0), 0);

const depthOf = (expansions: readonly Expansion[] = []): number =>
  Math.max(0, ...expansions.map(({ inner }) => 1 + depthOf(inner)));

/** The bytes in a record's expansions over `depth` relations, or in its own members, as SQL. */
function bytesAt(depth: number, projection: Projection, place: SqlTarget, context: StatementContext): string {
  if (depth === 0) return ownBytes(projection, place.row);
  const expand = projection.selection.member('expand');
  const sums = (selectedExpansions(projection) ?? []).flatMap((expansion) => {
    const selection = expand?.member(expansion.name);
    return selection && expansion.target.type !== 'view' && depthOf([expansion]) >= depth
      ? [expandedBytes(depth - 1, expansion, { selection, place }, context)]
      : [];
  });
  return sums.length === 0 ? '0' : sums.join(' + ');
}

/** The same for one expansion's records. Reading a view's rows may take as long as writing them. */
function expandedBytes(
  depth: number,
  expansion: Expansion,
  { selection, place }: { readonly selection: Projection['selection']; readonly place: SqlTarget },
  context: StatementContext,
): string {
  const { target, view, inner } = expansion;
  const projection = { collection: target, selection, view, expansions: inner };
  const records = selectRelated(expansion, place, context, (row) => ({
    columns: readColumns(target),
    from: '',
    text: bytesAt(depth, projection, { ...place, row }, context),
  }));
  return `coalesce(${ifVisible(expansion, `(select sum(m.value) from (${records}) m)`, place, context)}, 0)`;
}

/** The columns from which a record's members and expansions are read. */
const readColumns = (collection: Collection): readonly string[] =>
  recordColumns(collection).map(({ column }) => column);

/**
 * The bytes that a record's members have at least, as SQL. Members with their own rule do not count. PostgreSQL knows a
 * text's bytes without reading it, and other values' stored size.
 */
function ownBytes({ collection, selection, view }: Projection, row: string): string {
  const columns = selectedColumns(collection, selection, view).filter(({ name }) => !view.conditional.has(name));
  const names = columns.reduce((sum, { name }) => sum + name.length + '"":,'.length, 0);
  // A view's columns may have any type.
  const fields = collection.type === 'view' ? [] : collection.fields;
  const values = fields.flatMap((field) => {
    if (!columns.some(({ name }) => name === field.name)) return [];
    const column = `${row}.${quoteIdentifier(field.name)}`;
    const type = fieldTypeOf(field).columnType(field);
    if (type.startsWith('text')) return [`coalesce(octet_length(${column}), 0)`];
    if (isContainer(type)) return [`coalesce(pg_column_size(${column}), 0) / ${maxStoredPerByte}`];
    return [];
  });
  return [names, ...values].join(' + ');
}

const isContainer = (columnType: string): boolean => columnType === 'jsonb' || columnType.endsWith('[]');

/** How many stored bytes a byte of JSON takes at most: `[1, 1]` as jsonb takes 12 bytes for an element. */
const maxStoredPerByte = 5;
