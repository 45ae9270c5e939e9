import type { Query } from '@recordbus/database';
import type { Collection, FieldEncryption } from '@recordbus/schema';
import type { ListRequest } from '../read/list-request.ts';
import type { RecordReads } from '../read/record-reads.ts';
import { withValues } from '../record/prepared.ts';
import type { RuleContext } from '../rules/rule-context.ts';
import { decryptAnswer } from '../shape/decrypt-answer.ts';
import { composeSearch } from './compose-search.ts';
import { correctTypos, mayHaveTypos } from './correct-typos.ts';
import type { Fusion } from './fuse-sql.ts';
import type { Search } from './search-request.ts';

/** Where a search reads, and for whom. */
export interface SearchPlace {
  readonly reads: Pick<RecordReads, 'together' | 'maxAnswerBytes'>;
  readonly collection: Collection;
  readonly ruleContext: RuleContext;
  readonly encryption: FieldEncryption;
}

/**
 * Reads a page of the records that a search finds among those that list rule and filter admit, with its typos corrected. Returns
 * the answer's body.
 * The statement has no name: how it is planned depends on how many records have the words. Throws like a list.
 */
export async function searchRecords(
  place: SearchPlace,
  search: Search,
  request: ListRequest,
  fusion?: Fusion,
): Promise<string> {
  const { reads, collection, ruleContext } = place;
  const query = reads.together();
  const run = (of: Search) => runSearch(query, place, of, request, fusion);
  const answer = await run(search);
  if (fusion?.weight === 1 || !mayHaveTypos(search, answer.found)) return answer.body;
  const corrected = await correctTypos({ query, collection, search, filter: request.filter, ruleContext });
  return corrected ? (await run(corrected)).body : answer.body;
}

async function runSearch(
  query: Query,
  { reads, collection, ruleContext, encryption }: SearchPlace,
  search: Search,
  request: ListRequest,
  fusion: Fusion | undefined,
): Promise<{ readonly body: string; readonly found: boolean }> {
  const { page, perPage } = request;
  const composed = composeSearch(collection, search, request, ruleContext, fusion);
  const offset = Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
  const maxBytes = reads.maxAnswerBytes();
  const values = composed.valuesFrom({ page, perPage, offset, maxBytes }, ruleContext.request);
  const [row] = await query<{ body: string; found: boolean }>(withValues(composed, values));
  if (!row) throw new Error('the search statement returned no row');
  return { body: await decryptAnswer(encryption, composed.projection, row.body, maxBytes), found: row.found };
}
