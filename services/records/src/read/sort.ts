import type { Collection } from '@recordbus/schema';
import { malformed } from '@recordbus/shared/errors';
import { recordColumns } from '../record/columns.ts';

/** Contract §2. */
const maxTerms = 8;

/** `created_at` is the name in the default of interface §4.5, `created` the one in records. */
const aliases: Readonly<Record<string, string>> = { created_at: 'created', updated_at: 'updated' };

/**
 * Reads `sort` into an ORDER BY list over the table's row `t`; newest first when it is absent. PostgreSQL's own places
 * for null (last ascending, first descending) are those of the contract. Ties go by id, in the direction of the last
 * term, so pages never overlap and an index with the id behind its columns serves both directions.
 * Throws 400 for a name that the collection does not have, an empty term, or too many terms.
 */
export function orderBy(collection: Collection, sort: string | undefined): string {
  const columns = new Map(recordColumns(collection).map(({ name, column }) => [name, column]));
  const terms = (sort ?? '-created').split(',');
  if (terms.length > maxTerms) throw malformed(`sort: may have at most ${maxTerms} terms`);
  const order: string[] = [];
  let direction = '';
  for (const term of terms) {
    const text = term.trim();
    direction = text.startsWith('-') ? ' desc' : '';
    const name = direction ? text.slice(1) : text;
    const column = columns.get(aliases[name] ?? name);
    if (!column) throw malformed(`sort: ${collection.name} has no field ${JSON.stringify(name)}`);
    order.push(`t.${column}${direction}`);
    if (column === 'id') return order.join(', ');
  }
  return [...order, `t.id${direction}`].join(', ');
}
