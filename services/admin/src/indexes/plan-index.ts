import { lowerSql } from '@recordbus/query';
import {
  type Collection,
  type CollectionIndex,
  comparedValue,
  hasComparableValue,
  indexName,
  quoteIdentifier,
  tableOf,
} from '@recordbus/schema';

/** What a trigram index needs from the server. */
export interface TrigramSupport {
  /** The schema that the extension pg_trgm is in. */
  readonly schema: string;
  /** Collation, quoted, that filters use to fold case. An index with another collation does not serve them. */
  readonly collation: string;
}

/**
 * Plans the statement that creates an index. A unique index compares like a unique field: it ignores null and the empty
 * text, and the case of addresses (collections §10.3).
 */
export function planIndex(collection: Collection, index: CollectionIndex, trigrams?: TrigramSupport): string {
  const name = quoteIdentifier(indexName(collection, index));
  const fields = index.columns.map((column) => collection.fields.find(({ id }) => id === column) ?? column);
  if (index.type === 'trigram') {
    if (!trigrams) throw new Error('a trigram index needs the extension pg_trgm');
    const { schema, collation } = trigrams;
    const columns = fields.map((field) => {
      const column = typeof field === 'string' ? field : quoteIdentifier(field.name);
      return `(${lowerSql(column, { collation })}) ${quoteIdentifier(schema)}.gin_trgm_ops`;
    });
    return `create index ${name} on ${tableOf(collection)} using gin (${columns.join(', ')})`;
  }
  const columns = fields.map((field) => {
    if (typeof field === 'string') return field;
    return index.unique ? `(${comparedValue(field)})` : quoteIdentifier(field.name);
  });
  const conditions = index.unique
    ? fields.flatMap((field) => (typeof field === 'string' ? [] : [hasComparableValue(field)]))
    : [];
  const where = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : '';
  return `create ${index.unique ? 'unique ' : ''}index ${name} on ${tableOf(collection)} (${columns.join(', ')})${where}`;
}
