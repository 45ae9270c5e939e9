import type { Sort } from '@recordbus/query';
import type { Collection } from '@recordbus/schema';
import { readCondition, readSort } from '../shape/conditions.ts';
import { readProjection } from '../shape/read-projection.ts';
import { type Projection, type RecordJson, recordJson, type StatementContext } from '../shape/record-json.ts';
import type { ListRequest } from './list-request.ts';

/** What every list statement has. */
interface ListParts {
  /** The condition on the rows; undefined if all are listed. */
  readonly condition: string | undefined;
  readonly sort: Sort;
  readonly projection: Projection;
  readonly record: RecordJson;
}

/** The `sort` that lists in another random order each time (filters §9.6). */
export const randomOrder = '@random';

/** Compiles a list over the rows `t`, whose page is the rows `p`. Throws 400 for an invalid filter, sort or expand. */
export function compileListParts(
  collection: Collection,
  request: Pick<ListRequest, 'filter' | 'ids' | 'sort' | 'fields' | 'expand'>,
  { parameters, ...context }: StatementContext,
): ListParts {
  const place = { row: 't', parameters };
  const admitted = readCondition(collection, request.filter, place, context);
  const ids = request.ids && parameters.fixed(request.ids, 'text[]');
  const listed = ids && `t.id = any(${ids})`;
  const condition = listed && admitted ? `${listed} and ${admitted}` : (listed ?? admitted);
  const keyless = (orderBy: string): Sort => ({ joins: '', orderBy, keys: [] });
  const sort =
    request.sort === randomOrder
      ? keyless('random()')
      : ids && request.sort === 'ids'
        ? keyless(`array_position(${ids}, t.id)`)
        : readSort(collection, request.sort, place, context);
  const projection = readProjection(collection, request, context);
  return { condition, sort, projection, record: recordJson(projection, 'p', { parameters, ...context }) };
}
