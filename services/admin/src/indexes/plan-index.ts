import { lowerSql } from '@recordbus/query';
import { type Collection, type CollectionIndex, indexName, quoteIdentifier, tableOf } from '@recordbus/schema';
import { comparedValue, hasComparableValue } from '../ddl/columns.ts';

/** What of the server an index over trigrams depends on. */
export interface TrigramSupport {
  /** The schema of the extension pg_trgm. */
  readonly schema: string;
  /** Collation, quoted, by which filters fold case: the index serves them only if it folds likewise. */
  readonly collation: string;
}

/**
 * The statement that makes an index. A unique one compares what a unique field does: neither null nor the empty text,
 * addresses without case (contract §8).
 */
export function planIndex(collection: Collection, index: CollectionIndex, trigrams?: TrigramSupport): string {
  const name = quoteIdentifier(indexName(collection, index));
  const fields = index.columns.map((column) => collection.fields.find(({ id }) => id === column) ?? column);
  if (index.type === 'trigram') {
    if (!trigrams) throw new Error('an index over trigrams needs the extension pg_trgm');
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
