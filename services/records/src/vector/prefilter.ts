import { isDatabaseError, type Query } from '@recordbus/database';
import { createParameters, type Parameters, type RequestValues } from '@recordbus/query';
import { quoteIdentifier } from '@recordbus/schema';
import { unit } from './cosine.ts';
import type { Near } from './near-request.ts';

interface CandidateSource {
  /** Composes SQL that selects each candidate's `key` and `vector` (double precision[]). */
  readonly compose: (parameters: Parameters) => string;
  /** The request whose values the SQL uses. */
  readonly request?: RequestValues;
}

/** Data exceptions: a number that single precision does not hold, or an array with another length. */
const outOfRange = /^22/;

/**
 * Lets the database select, with pgvector, the keys of the candidates that may belong to the top k. Undefined if the
 * extension is not installed, or a number is out of its range: then every candidate has to be read.
 */
export async function prefilter(
  query: Query,
  near: Near,
  { compose, request }: CandidateSource,
): Promise<readonly string[] | undefined> {
  const extension = await findExtension(query);
  if (extension === undefined) return undefined;
  const maxError = maxScoreErrorOf(near.dimensions);
  const parameters = createParameters();
  const text = composePrefilter(quoteIdentifier(extension), near, maxError, compose(parameters), parameters);
  await query({ text: 'savepoint prefilter', values: [] });
  try {
    const kept = await query<{ key: string }>({ text, values: parameters.values(request) });
    return kept.map(({ key }) => key);
  } catch (error) {
    if (!(isDatabaseError(error) && outOfRange.test(error.code ?? ''))) throw error;
    await query({ text: 'rollback to savepoint prefilter', values: [] });
    return undefined;
  }
}

/**
 * The largest error in a score that pgvector computes. Both unit vectors are rounded to 24 bits, and so is each partial
 * sum in their scalar product. Two unit vectors' products add up to at most 1.
 */
const maxScoreErrorOf = (dimensions: number): number => (dimensions + 8) * 2 ** -24;

/** The schema in which pgvector is installed; undefined if it is not. */
async function findExtension(query: Query): Promise<string | undefined> {
  const [found] = await query<{ schema: string }>({
    text: `select n.nspname as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace
where e.extname = 'vector'`,
    values: [],
  });
  return found?.schema;
}

/**
 * `l2_normalize` computes the length in double precision, so no square overflows. A vector that is so short that single
 * precision may have lost digits, zero included, has no score and is kept.
 */
function composePrefilter(
  extension: string,
  { vector, dimensions, limit, minScore }: Near,
  maxError: number,
  source: string,
  parameters: Parameters,
): string {
  const direction = parameters.fixed(`[${unit(vector).join(',')}]`, `${extension}.vector(${dimensions})`);
  const lowestScore = parameters.fixed(minScore - maxError, 'double precision');
  return `with scored as materialized (
  select c.key, case when ${extension}.vector_norm(c.v) > 1e-30
    then -(${extension}.l2_normalize(c.v) operator(${extension}.<#>) ${direction}) end as score
  from (select s.key, s.vector::${extension}.vector(${dimensions}) as v from (${source}) s) c
), last as (
  select score from scored order by score desc nulls last offset ${parameters.fixed(limit - 1, 'bigint')} limit 1
)
select key from scored
where score is null
  or score >= greatest(${lowestScore}, (select score from last) - ${parameters.fixed(2 * maxError, 'double precision')})`;
}
