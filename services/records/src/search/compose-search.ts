import { createNamedParameters, type NamedParameters, type Sort } from '@recordbus/query';
import { type Collection, searchTableOf, tableOf } from '@recordbus/schema';
import type { ListRequest } from '../read/list-request.ts';
import type { Prepared } from '../record/prepared.ts';
import type { RuleContext } from '../rules/rule-context.ts';
import { composeEstimate } from '../shape/answer-estimate.ts';
import { joinedWithinLimit } from '../shape/answer-limit.ts';
import { readCondition, readSort } from '../shape/conditions.ts';
import { readProjection } from '../shape/read-projection.ts';
import { type Projection, recordJson } from '../shape/record-json.ts';
import { columnList } from '../shape/related-records.ts';
import { composeFacets, type Facets } from './facets.ts';
import { composeFused, type Fusion } from './fuse-sql.ts';
import { highlightSql } from './highlight-sql.ts';
import { compileMatch, type MatchSql, matchesFrom } from './match-sql.ts';
import type { Search } from './search-request.ts';

/** How many matches are ranked, newest first: ranking reads each one's words. */
const maxRanked = 10_000;

/** The values for each run of a search. */
interface SearchValues {
  readonly page: number;
  readonly perPage: number;
  readonly offset: number;
  /** How many bytes the answer may have. */
  readonly maxBytes: number;
}

export interface ComposedSearch extends Prepared, Pick<NamedParameters<SearchValues>, 'valuesFrom'> {
  readonly projection: Projection;
}

/**
 * Composes a search. Its matches are the records that list rule, filter and text admit, so totals and order come from what
 * the caller may see. With `fusion` the answer has the best ones, and the records with the nearest vectors. The row has the
 * whole answer as `body`; `found` says whether a record has the words.
 */
export function composeSearch(
  collection: Collection,
  search: Search,
  request: ListRequest,
  ruleContext: Pick<RuleContext, 'principal' | 'schema'>,
  fusion?: Fusion,
): ComposedSearch {
  const { filter, sort, expand } = request;
  const parameters = createNamedParameters<SearchValues>();
  const context = { parameters, isEstimated: expand !== undefined, ...ruleContext };
  const place = { row: 't', parameters };
  const records = tableOf(collection);
  const match = compileMatch(collection, search, parameters);
  const condition = readCondition(collection, filter, place, ruleContext);
  const projection = readProjection(collection, request, ruleContext);
  const record = recordJson(projection, 'p', context);
  const words = `${searchTableOf(collection, search.index)} s`;
  const joinRecord = (id: string) => ` join ${records} t on t.id = ${id}`;
  const joinWords = (id: string) => ` join ${words} on s.id = ${id}${match.readsRecord ? joinRecord(id) : ''}`;

  const matching = (text: Pick<MatchSql, 'condition' | 'readsRecord'>) =>
    matchesFrom(collection, search, text, condition);
  const isOpen = condition === undefined && !match.readsRecord && sort === undefined && isWithinRanked(request);
  const pageSize = parameters.named('perPage', 'bigint');
  const limit = `limit ${pageSize} offset ${parameters.named('offset', 'bigint')}`;
  const ranked = rankNewest(match, joinWords('n.id'));
  const fused = fusion && composeFused(collection, search, fusion, { parameters, match, words, joinWords });
  const { tables, shown, counted, total, matched } = fused
    ? fusedMatches(matching(fused.text), [ranked, ...fused.tables])
    : isOpen
      ? openMatches(match, matching(match), request)
      : keptMatches(matching(match), sort === undefined ? [ranked] : [], request);
  const ordered =
    sort === undefined
      ? orderByScore(shown, limit)
      : orderBySort(shown, joinRecord('f.id'), readSort(collection, sort, place, ruleContext), limit);
  const facets =
    search.facets === undefined
      ? noFacets
      : composeFacets(collection, search.facets, { ...context, joinRecord, counted, maxCounted: maxRanked });
  const shows = ({ selection }: Projection, name: string) => selection.member(name) !== undefined;
  const marked = shows(projection, '_highlight') ? search.highlight : undefined;
  const more = [
    ...(shows(projection, '_score')
      ? [`"_score":' || round((${fused ? 'u.score' : match.score})::numeric, 6)::double precision || '`]
      : []),
    ...(marked ? [`"_highlight":' || ${highlightSql(collection, search, marked, parameters)} || '`] : []),
  ];
  const corrected = search.corrected
    ? ` || ',"corrected":' || ${parameters.fixed(JSON.stringify(search.corrected), 'text')}`
    : '';
  const json = withMembers(record.text, more);
  const joins = `${joinWords('p.id')}${marked && !match.readsRecord ? joinRecord('p.id') : ''}${fused ? ' join fused u on u.id = p.id' : ''}`;
  const page = `select ${json} as value from page p${joins} ${record.from} order by p."_place"`;
  const estimate = context.isEstimated ? `, ${composeEstimate(projection, 'page p', context)}` : '';
  const joined = joinedWithinLimit(page, { ...context, maxBytes: parameters.named('maxBytes', 'bigint') });
  const text = `with ${[...tables, ordered, ...facets.tables].join(', ')}, page as materialized (
  select ${columnList(record.columns, 't')}, o."_place" from ordered o${joinRecord('o.id')}
)${estimate}
select '{"data":[' || ${joined} || '],"page":' || ${parameters.named('page', 'bigint')} || ',"perPage":' || ${pageSize} || ${counts(request, pageSize)}${facets.members}${corrected} || '}' as body, n.matched > 0 as found
from (select count(*) as total, ${matched} as matched ${total}) n`;
  return { text, valuesFrom: parameters.valuesFrom, onPrimary: parameters.readsAccount, projection };
}

const noFacets: Facets = { tables: [], members: '' };

/** A record's JSON with more members, each within an SQL literal. No field's name begins with an underscore. */
const withMembers = (json: string, members: readonly string[]): string =>
  members.length === 0 ? json : `left(${json}, -1) || ',${members.join(',')}}'`;

/** The totals `n`, and how many matches were ranked if there are more. */
function counts({ skipTotal, sort }: ListRequest, pageSize: string): string {
  const totals = skipTotal
    ? `',"totalItems":-1,"totalPages":-1'`
    : `',"totalItems":' || n.total || ',"totalPages":' || (n.total + ${pageSize} - 1) / ${pageSize}`;
  if (sort !== undefined) return totals;
  return `${totals} || case when n.matched > ${maxRanked} then ',"ranked":${maxRanked}' else '' end`;
}

/** Where a search's answer is from, as table expressions. */
interface Matches {
  readonly tables: readonly string[];
  /** What the pages show: `id`, `created_at` and, if it is the order, `score`. */
  readonly shown: string;
  /** The records whose values facets count. */
  readonly counted: string;
  /** What the total counts, from its `from` on. */
  readonly total: string;
  /** How many records have the words. */
  readonly matched: string;
}

/** The newest matches, and one that says whether there are more than are ranked. */
const boundedNewest = `order by s.created_at desc, s.id desc limit ${maxRanked + 1}`;

/** All matches, or as many as `bound` says, and the newest ones, which are ranked. Rule and filter are asked once. */
const foundAndNewest = (matching: string, bound = ''): readonly string[] => [
  `found as materialized (
  select s.id, s.created_at ${matching} ${bound}
)`,
  `newest as materialized (
  select id, created_at from found order by created_at desc, id desc limit ${maxRanked}
)`,
];

/** Matches that list rule and filter admit. Those older than the ranked ones follow these; only their pages read them. */
const keptMatches = (matching: string, ranked: readonly string[], request: ListRequest): Matches => ({
  tables: [...foundAndNewest(matching, needsNewestOnly(request) ? boundedNewest : ''), ...ranked],
  shown:
    ranked.length === 0
      ? 'found'
      : isWithinRanked(request)
        ? 'ranked'
        : 'found left join ranked using (id, created_at)',
  counted: 'newest',
  total: 'from found',
  matched: 'count(*)',
});

/**
 * Matches that need no record. To read the index twice is cheaper than to keep them: for a common word the newest are at the
 * end of an index, and counting keeps nothing.
 */
const openMatches = ({ score }: MatchSql, matching: string, { skipTotal }: ListRequest): Matches => ({
  tables: [
    `ranked as materialized (
  select s.id, s.created_at, ${score} as score from (
    select s.* ${matching} order by s.created_at desc, s.id desc limit ${maxRanked}
  ) s
)`,
    'newest as (select id, created_at from ranked)',
  ],
  shown: 'ranked',
  counted: 'newest',
  total: skipTotal ? `from (select ${matching} limit ${maxRanked + 1}) counted` : matching,
  matched: 'count(*)',
});

/** The best matches, and the records with the nearest vectors. */
const fusedMatches = (matching: string, fused: readonly string[]): Matches => ({
  tables: [...foundAndNewest(matching, boundedNewest), ...fused],
  shown: 'fused',
  counted: 'fused',
  total: 'from fused',
  matched: '(select count(*) from found)',
});

const rankNewest = ({ score }: MatchSql, joinWords: string): string =>
  `ranked as (select n.id, n.created_at, ${score} as score from newest n${joinWords})`;

/** Whether nothing in the answer comes from matches that are not ranked. */
const needsNewestOnly = (request: ListRequest): boolean =>
  request.skipTotal && request.sort === undefined && isWithinRanked(request);

const isWithinRanked = ({ page, perPage }: ListRequest): boolean => page * perPage <= maxRanked;

const orderByScore = (shown: string, limit: string): string => `ordered as (
  select o.id, row_number() over () as "_place" from (
    select id from ${shown} order by score desc nulls last, created_at desc, id desc ${limit}
  ) o
)`;

const orderBySort = (
  shown: string,
  joinRecord: string,
  { joins, orderBy }: Sort,
  limit: string,
): string => `ordered as (
  select o.id, row_number() over () as "_place" from (
    select t.id from ${shown} f${joinRecord}${joins && ` ${joins}`} order by ${orderBy} ${limit}
  ) o
)`;
