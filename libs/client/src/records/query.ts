import { type AnyFilter, filterText } from '../filter/build.ts';
import { mergeQueries, type Query } from '../url.ts';
import type { Near } from './options.ts';

/** A read's options, without types. */
export interface AnyReadOptions {
  readonly expand?: readonly string[] | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly filter?: AnyFilter;
  readonly sort?: string | readonly string[] | undefined;
  readonly page?: number | undefined;
  readonly perPage?: number | undefined;
  readonly skipTotal?: boolean | undefined;
  readonly near?: Near | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly search?: string | undefined;
  readonly searchMode?: 'all' | 'any' | undefined;
  readonly searchFields?: readonly string[] | undefined;
  readonly highlight?: readonly string[] | undefined;
  readonly facets?: readonly string[] | undefined;
  readonly hybrid?: number | undefined;
  readonly query?: Query | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A read's query. */
export const readQuery = ({
  expand,
  fields,
  filter,
  sort,
  page,
  perPage,
  skipTotal,
  near,
  search,
  searchMode,
  searchFields,
  highlight,
  facets,
  hybrid,
  query,
}: AnyReadOptions): Query =>
  mergeQueries(query, {
    expand: nonEmpty(expand),
    fields: nonEmpty(fields),
    filter: filterText(filter),
    sort,
    page,
    perPage,
    skipTotal,
    search,
    searchMode,
    searchFields: nonEmpty(searchFields),
    highlight: nonEmpty(highlight),
    facets: nonEmpty(facets),
    hybrid,
    ...(near && {
      nearVector: JSON.stringify(near.vector),
      nearVectorField: near.field,
      nearLimit: near.limit,
      nearMinScore: near.minScore,
    }),
  });

/** A read's options as a body's members. */
export const readBody = ({ filter, near, query: _, signal: __, ...options }: AnyReadOptions) => ({
  ...options,
  filter: filterText(filter),
  ...(near && {
    nearVector: near.vector,
    nearVectorField: near.field,
    nearLimit: near.limit,
    nearMinScore: near.minScore,
  }),
});

/** An empty path list counts as absent. */
const nonEmpty = (names: readonly string[] | undefined): readonly string[] | undefined =>
  names?.length ? names : undefined;
