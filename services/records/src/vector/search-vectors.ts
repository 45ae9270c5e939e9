import { createParameters } from '@recordbus/query';
import type { Collection, FieldEncryption } from '@recordbus/schema';
import type { RecordReads } from '../read/record-reads.ts';
import { viewOf } from '../rules/field-rules.ts';
import type { RuleContext } from '../rules/rule-context.ts';
import { checkAnswerSize } from '../shape/answer-limit.ts';
import { readSort } from '../shape/conditions.ts';
import { decryptAnswer } from '../shape/decrypt-answer.ts';
import { readExpand } from '../shape/expansion.ts';
import { readFieldSelection } from '../shape/field-selection.ts';
import { readDoubles } from './array-bytes.ts';
import { cosine } from './cosine.ts';
import type { Near } from './near-request.ts';
import { composeFound } from './near-sql.ts';
import { byScore } from './top-k.ts';
import type { VectorRanking } from './vector-ranking.ts';

/** The other parameters for a list with a vector search. */
interface SearchRequest {
  readonly skipTotal: boolean;
  readonly filter?: string | undefined;
  readonly sort?: string | undefined;
  readonly fields?: string | undefined;
  readonly expand?: string | undefined;
}

/** Finds the records with the most similar vectors. Returns the answer's body. */
export type SearchVectors = (
  collection: Collection,
  near: Near,
  request: SearchRequest,
  ruleContext: RuleContext,
) => Promise<string>;

/** More bytes may be read than the answer has: candidates that turn out not to belong to it are read too. */
const readBytesFactor = 2;

interface SearchDeps {
  readonly ranking: VectorRanking;
  readonly reads: Pick<RecordReads, 'maxAnswerBytes'>;
  readonly encryption: FieldEncryption;
}

/**
 * Creates the search. It is exact: it compares all candidates in one snapshot in single precision, then computes the scores
 * for the top k, and for candidates too close to them, in double precision.
 */
export function createSearchVectors({ ranking, reads, encryption }: SearchDeps): SearchVectors {
  return async (collection, near, request, ruleContext) => {
    const { filter, sort, fields, expand, skipTotal } = request;
    // The order is by score, but an invalid sort is refused all the same (vectors §1.2).
    if (sort !== undefined) readSort(collection, sort, { row: 't', parameters: createParameters() }, ruleContext);
    const expansions = expand === undefined ? undefined : readExpand(expand, collection, ruleContext);
    const view = viewOf(collection, ruleContext);
    const projection = { collection, selection: readFieldSelection(fields), view, expansions };
    const { text, valuesFrom } = composeFound(projection, near.field, ruleContext);
    const rows = await ranking.inSnapshot(async (query) => {
      const topK = await ranking.candidates({ query, collection, near, filter, ruleContext });
      const ids = topK.map(({ id }) => id);
      if (ids.length === 0) return [];
      const given = { ids, maxBytes: readBytesFactor * reads.maxAnswerBytes() };
      return query<FoundRow>({ text, values: valuesFrom(given, ruleContext.request) });
    });
    const body = composeBody(near, rows, skipTotal);
    const maxBytes = reads.maxAnswerBytes();
    checkAnswerSize(body, maxBytes);
    return decryptAnswer(encryption, projection, body, maxBytes);
  };
}

interface FoundRow {
  readonly id: string;
  /** Base64. */
  readonly bytes: string;
  readonly json: string;
}

/** The answer's body, with the counts from vectors §2.4. */
function composeBody(near: Near, rows: readonly FoundRow[], skipTotal: boolean): string {
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
