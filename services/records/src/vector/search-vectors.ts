import type { Database } from '@recordbus/database';
import { createParameters } from '@recordbus/query';
import type { Collection, FieldSealing } from '@recordbus/schema';
import { createGate } from '@recordbus/shared/gate';
import { readSort } from '../read/conditions.ts';
import { readExpand } from '../read/expansion.ts';
import { openAnswer } from '../read/open-answer.ts';
import { readProjection } from '../read/projection.ts';
import type { Asking } from '../rules/compile-rule.ts';
import { readDoubles } from './array-bytes.ts';
import { byScore } from './best.ts';
import { cosine } from './cosine.ts';
import type { Near } from './near-request.ts';
import { composeFound } from './near-sql.ts';
import { rankCandidates } from './rank-candidates.ts';
import { createVectorMemory } from './vector-memory.ts';

/** What a client asks of a vector search beside the vector. */
interface SearchRequest {
  readonly skipTotal: boolean;
  readonly filter?: string | undefined;
  readonly sort?: string | undefined;
  readonly fields?: string | undefined;
  readonly expand?: string | undefined;
}

/** Finds the records whose vectors are most like a given one. */
export type SearchVectors = (
  collection: Collection,
  near: Near,
  request: SearchRequest,
  asking: Asking,
) => Promise<string>;

/**
 * Each search has a connection for all of its statements and much work for the processor; more at once would only take
 * both from other requests.
 */
const gateOptions = { width: 3, maxWaiting: 200, refusal: 'too many vector searches are waiting' };

/**
 * Makes the search, with the memory that it keeps vectors in. It is exact: of the candidates of one snapshot the best by
 * single precision are scored again in double precision, with all that come so close that they might change places.
 */
export function createSearchVectors(
  { transaction, sealing }: Pick<Database, 'transaction'> & { readonly sealing: FieldSealing },
  memoryLimitBytes?: number,
): SearchVectors {
  const memory = createVectorMemory(memoryLimitBytes);
  const gate = createGate(gateOptions);
  return async (collection, near, request, asking) => {
    const { filter, sort, fields, expand, skipTotal } = request;
    // The order is that of the scores; a sort that can't be understood is refused all the same.
    if (sort !== undefined) readSort(collection, sort, { row: 't', parameters: createParameters() }, asking);
    const expansions = expand === undefined ? undefined : readExpand(expand, collection, asking);
    const shown = { collection, projection: readProjection(fields), expansions };
    const { text, parameters } = composeFound(shown, near.field, asking);
    const rows = await gate.run(() =>
      transaction(async (query) => {
        await query({ text: 'set transaction isolation level repeatable read, read only', values: [] });
        const best = await rankCandidates({ query, collection, near, filter, asking }, memory);
        const ids = best.map(({ id }) => id);
        if (ids.length === 0) return [];
        return query<FoundRow>({ text, values: [ids, ...parameters.values(asking.request)] });
      }),
    );
    return openAnswer(sealing, shown, present(near, rows, skipTotal));
  };
}

interface FoundRow {
  readonly id: string;
  /** Base64. */
  readonly bytes: string;
  readonly json: string;
}

/** The body of the answer: page and perPage are of no use here, totals count the rows (contract §2). */
function present(near: Near, rows: readonly FoundRow[], skipTotal: boolean): string {
  const scored = rows
    .map(({ id, bytes, json }) => {
      const vector = readDoubles(Buffer.from(bytes, 'base64'), 0, near.dimensions);
      return { id, json, score: vector ? cosine(near.vector, vector) : Number.NaN };
    })
    .filter(({ score }) => score >= near.minScore)
    .sort(byScore)
    .slice(0, near.limit);
  const data = scored.map(({ json, score }) => `${json.slice(0, -1)},"_score":${JSON.stringify(score)}}`).join(',');
  const [items, pages] = skipTotal ? [-1, -1] : [scored.length, Math.min(scored.length, 1)];
  return `{"data":[${data}],"page":1,"perPage":${near.limit},"totalItems":${items},"totalPages":${pages}}`;
}
