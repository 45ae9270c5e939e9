import { pageOf, type Route, rawJson, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { listRecords } from '../read/list-records.ts';
import { readNear } from '../vector/near-request.ts';
import { decimal, flag, text, wholeNumber } from './query-values.ts';
import { recordJson } from './record-json.ts';
import { collectionParams, collectionPaths } from './record-paths.ts';
import { admitTo, askingOf, type RouteDeps, requestOf } from './route-deps.ts';

/** Interface §4.5, contract §2. */
const defaultPerPage = 30;
const maxPerPage = 1000;
const defaultNear = 10;
const maxNear = 1000;

/** What a list can be asked for, as texts. */
export const listQuery = z.object({
  page: wholeNumber.transform((page = 1) => Math.min(Math.max(page, 1), Number.MAX_SAFE_INTEGER)),
  perPage: wholeNumber.transform((size = 0) => (size > 0 ? Math.min(size, maxPerPage) : defaultPerPage)),
  sort: text,
  fields: text,
  skipTotal: flag,
  filter: text,
  expand: text,
  nearVector: text,
  nearVectorField: text,
  nearLimit: wholeNumber.transform((limit = 0) => (limit > 0 ? Math.min(limit, maxNear) : defaultNear)),
  nearMinScore: decimal,
});

/** `GET /api/<col>`. */
export const listRoute = (deps: RouteDeps): Route =>
  route({
    method: 'GET',
    path: collectionPaths,
    access: 'public',
    action: 'list',
    summary: 'List records',
    params: collectionParams,
    query: listQuery,
    answers: {
      200: pageOf(recordJson),
      400: 'a parameter can not be read',
      403: 'the list rule refuses',
      404: 'no such collection',
      422: 'nearVector is not of the kind that the field holds',
    },
    admit: admitTo('list', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('list', input), async (collection) => {
        const near = readNear(input.query, collection);
        const asking = askingOf('GET', input, deps);
        const body = near
          ? await deps.searchVectors(collection, near, input.query, asking)
          : await listRecords(deps.database, collection, input.query, asking, deps.sealing);
        return rawJson(200, body);
      }),
  });
