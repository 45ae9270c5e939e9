import { type Route, rawJson, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { listRecords } from '../read/list-records.ts';
import { flag, notServed, text, wholeNumber } from './query-values.ts';
import { collectionParams, collectionPaths } from './record-paths.ts';
import { admitTo, askingOf, type RouteDeps, requestOf } from './route-deps.ts';

/** Interface §4.5, contract §2. */
const defaultPerPage = 30;
const maxPerPage = 1000;

const query = z.object({
  page: wholeNumber.transform((page = 1) => Math.min(Math.max(page, 1), Number.MAX_SAFE_INTEGER)),
  perPage: wholeNumber.transform((size = 0) => (size > 0 ? Math.min(size, maxPerPage) : defaultPerPage)),
  sort: text,
  fields: text,
  skipTotal: flag,
  filter: text,
  expand: text,
  nearVector: notServed,
  nearVectorField: notServed,
  nearLimit: notServed,
  nearMinScore: notServed,
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
    query,
    answers: {
      200: z.array(z.record(z.string(), z.unknown())),
      400: 'a parameter can not be read',
      403: 'the list rule refuses',
      404: 'no such collection',
    },
    admit: admitTo('list', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('list', input), async (collection) =>
        rawJson(200, await listRecords(deps.database, collection, input.query, askingOf('GET', input, deps))),
      ),
  });
