import type { Parameters } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import { compileMatch, type MatchSql } from './match-sql.ts';
import type { Search } from './search-request.ts';

/** The records with the nearest vectors, which are fused with those that have a text's words (search §7). */
export interface Fusion {
  /** Their ids, the nearest first. */
  readonly nearest: readonly string[];
  /** How much the vectors count, above 0 and up to 1. The words count the rest. */
  readonly weight: number;
}

/** How many records each of the two lists has. */
export const maxFused = 200;

/** A list adds its weight divided by this number and the place to a record's score (reciprocal rank fusion). */
const smoothing = 60;

interface FusePlace {
  readonly parameters: Pick<Parameters, 'fixed'>;
  readonly match: MatchSql;
  /** The index's table with its alias `s`. */
  readonly words: string;
  /** Joins the words `s` to an id. */
  readonly joinWords: (id: string) => string;
}

interface Fused {
  /** The matches that are ranked. Unlike alone, a text of only stop words or unwanted words has none. */
  readonly text: Pick<MatchSql, 'condition' | 'readsRecord'>;
  /** Table expressions after the ranked matches `ranked`. The last one is `fused`: `id`, `created_at` and `score`. */
  readonly tables: readonly string[];
}

/** Composes the fusion of both lists. Records with unwanted words are in neither. The first one in both has score 1. */
export function composeFused(
  collection: Collection,
  search: Search,
  { nearest, weight }: Fusion,
  { parameters, match, words, joinWords }: FusePlace,
): Fused {
  const { parsed } = search;
  const matchOf = (part: object) => compileMatch(collection, { ...search, parsed: { ...parsed, ...part } }, parameters);
  const hasUnwanted = parsed.unwanted.length > 0;
  const hasWords = () => (hasUnwanted ? `${match.hasWords} and ${matchOf({ unwanted: [] }).hasWords}` : match.hasWords);
  const lacksUnwanted = hasUnwanted ? ` where ${matchOf({ wanted: [] }).condition}` : '';
  const ids = parameters.fixed(nearest, 'text[]');
  const share = (part: number, place: string) =>
    `coalesce(${parameters.fixed(part * (smoothing + 1), 'double precision')} / (${smoothing} + ${place}), 0)`;
  return {
    text: { condition: weight === 1 ? 'false' : hasWords(), readsRecord: match.readsRecord },
    tables: [
      `texts as materialized (
  select id, row_number() over (order by score desc, created_at desc, id desc) as place from ranked order by place limit ${maxFused}
)`,
      `nearest as materialized (
  select v.id, row_number() over (order by v.place) as place from unnest(${ids}) with ordinality v(id, place)${joinWords('v.id')}${lacksUnwanted}
)`,
      `fused as materialized (
  select b.id, s.created_at, ${share(1 - weight, 'b.text_place')} + ${share(weight, 'b.vector_place')} as score
  from (select id, x.place as text_place, v.place as vector_place from texts x full join nearest v using (id)) b
  join ${words} on s.id = b.id
)`,
    ],
  };
}
