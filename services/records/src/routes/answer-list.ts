import { malformedParameter } from '@recordbus/errors';
import type { Collection } from '@recordbus/schema';
import type { z } from 'zod';
import { listPage } from '../read/list-page.ts';
import type { listQuery } from '../read/list-query.ts';
import type { ListRequest } from '../read/list-request.ts';
import type { RecordReads } from '../read/record-reads.ts';
import type { Call } from '../rules/rule-context.ts';
import { searchHybrid } from '../search/search-hybrid.ts';
import { searchRecords } from '../search/search-records.ts';
import { readSearch, type Search } from '../search/search-request.ts';
import { type Near, readNear } from '../vector/near-request.ts';
import type { RouteDeps } from './route-deps.ts';

/** A list's parameters, and the ids that only a body can have. */
type ListParameters = z.output<typeof listQuery> & Pick<ListRequest, 'ids'>;

/**
 * Reads the page that a list's parameters ask for: a plain one, a search's, a vector search's, or one of both. Returns the
 * body.
 */
export function answerList(
  { searchVectors, vectorRanking, encryption }: Pick<RouteDeps, 'searchVectors' | 'vectorRanking' | 'encryption'>,
  reads: RecordReads,
  collection: Collection,
  parameters: ListParameters,
  call: Call,
): Promise<string> {
  const near = readNear(parameters, collection, call);
  const search = readSearch(parameters, collection);
  refuseCombinations(near, search, parameters);
  const place = { reads, collection, ruleContext: call, encryption };
  if (near && search)
    return searchHybrid(vectorRanking, place, { near, search, weight: parameters.hybrid }, parameters);
  if (near) return searchVectors(collection, near, parameters, call);
  return search ? searchRecords(place, search, parameters) : listPage(reads, collection, parameters, call, encryption);
}

function refuseCombinations(near: Near | undefined, search: Search | undefined, { cursor, ids }: ListParameters): void {
  const other = near ? 'nearVector' : search ? 'search' : undefined;
  if (cursor !== undefined && other) throw malformedParameter('cursor', `cannot be combined with ${other}`);
  if (ids && (other || cursor !== undefined))
    throw malformedParameter('ids', `cannot be combined with ${other ?? 'cursor'}`);
}
