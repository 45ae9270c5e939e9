import type { ListRequest } from '../read/list-request.ts';
import type { Near } from '../vector/near-request.ts';
import type { VectorRanking } from '../vector/vector-ranking.ts';
import { maxFused } from './fuse-sql.ts';
import { type SearchPlace, searchRecords } from './search-records.ts';
import type { Search } from './search-request.ts';

/** How a text and a vector are searched together. */
export interface Hybrid {
  readonly search: Search;
  readonly near: Near;
  /** How much the vectors count, from 0, the text only, to 1, the vectors only. */
  readonly weight: number;
}

/**
 * Reads a page of the records that have a text's words or whose vectors are near, the best ones of both first (search §7). All
 * statements see one snapshot. Throws like a list.
 */
export async function searchHybrid(
  ranking: VectorRanking,
  place: SearchPlace,
  { search, near, weight }: Hybrid,
  request: ListRequest,
): Promise<string> {
  if (weight === 0) return searchRecords(place, search, request);
  const { collection, ruleContext, reads } = place;
  const { filter } = request;
  return ranking.inSnapshot(async (query, together) => {
    const ranked = { query, collection, near: { ...near, limit: maxFused }, filter, ruleContext };
    const nearest = await ranking.nearest(ranked);
    const within = { ...place, reads: { ...reads, together: () => together } };
    return searchRecords(within, search, request, { nearest, weight });
  });
}
