import { isDatabaseError, type Query } from '@recordbus/database';
import { quoteIdentifier } from '@recordbus/schema';
import { unit } from './cosine.ts';
import type { Near } from './near-request.ts';

/** A text that gives `key` and `vector` (double precision[]) of each candidate, and its parameters from `$5` on. */
interface SieveSource {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The first parameter of a source. */
export const firstSourceParameter = 5;

/** Data exceptions: a number that single precision does not hold, or an array of another length. */
const outOfRange = /^22/;

/**
 * Lets the database find, by pgvector's operators, the candidates that may be among the best: their keys. Undefined when
 * the extension is not there, or a number is too large for it; then every candidate has to be read.
 */
export async function sieveInDatabase(
  query: Query,
  near: Near,
  source: SieveSource,
): Promise<readonly string[] | undefined> {
  const extension = await findExtension(query);
  if (extension === undefined) return undefined;
  const doubt = scoreDoubtOf(near.dimensions);
  const least = near.minScore - doubt;
  await query({ text: 'savepoint sieve', values: [] });
  try {
    const kept = await query<{ key: string }>({
      text: composeSieve(quoteIdentifier(extension), near.dimensions, source.text),
      values: [`[${unit(near.vector).join(',')}]`, near.limit - 1, 2 * doubt, least, ...source.values],
    });
    return kept.map(({ key }) => key);
  } catch (error) {
    if (!(isDatabaseError(error) && outOfRange.test(error.code ?? ''))) throw error;
    await query({ text: 'rollback to savepoint sieve', values: [] });
    return undefined;
  }
}

/**
 * How far a score by pgvector is off at most. Both unit vectors are rounded to 24 bits, and so is each of the sums that
 * their scalar product goes through; the products of two unit vectors add up to no more than 1.
 */
const scoreDoubtOf = (dimensions: number): number => (dimensions + 8) * 2 ** -24;

/** The schema that pgvector was installed in. */
async function findExtension(query: Query): Promise<string | undefined> {
  const [found] = await query<{ schema: string }>({
    text: `select n.nspname as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace
where e.extname = 'vector'`,
    values: [],
  });
  return found?.schema;
}

/**
 * `l2_normalize` reckons the length in double precision, so that no square overflows; what is so short that single
 * precision may have lost some of it, zero included, has no score and is kept.
 */
const composeSieve = (extension: string, dimensions: number, source: string): string => `with scored as materialized (
  select c.key, case when ${extension}.vector_norm(c.v) > 1e-30
    then -(${extension}.l2_normalize(c.v) operator(${extension}.<#>) $1::${extension}.vector(${dimensions})) end as score
  from (select s.key, s.vector::${extension}.vector(${dimensions}) as v from (${source}) s) c
), last as (
  select score from scored order by score desc nulls last offset $2::bigint limit 1
)
select key from scored
where score is null
  or score >= greatest($4::double precision, (select score from last) - $3::double precision)`;
