import {
  boundedNumber,
  decimal,
  flag,
  freeText,
  pageOf,
  pageQuery,
  type Route,
  rawJson,
  route,
} from '@recordbus/shared/http';
import { listRecords } from '../read/list-records.ts';
import { readNear } from '../vector/near-request.ts';
import { recordJson } from './record-json.ts';
import { collectionParams, collectionPaths } from './record-paths.ts';
import { admitTo, askingOf, type RouteDeps, requestOf } from './route-deps.ts';

/** What a list can be asked for, as texts. */
export const listQuery = pageQuery.extend({
  sort: freeText.describe('names of fields by commas, - before one that descends'),
  fields: freeText.describe('names of the members to give, by commas; all when left out'),
  skipTotal: flag.describe('leave the records uncounted'),
  filter: freeText.describe('a condition in the language of filters'),
  expand: freeText.describe('names of relations, by commas, whose records are shown within'),
  nearVector: freeText.describe('a JSON array of numbers; the records are those most like it'),
  nearVectorField: freeText.describe('the field of the kind vector that is compared'),
  nearLimit: boundedNumber({ min: 1, max: 1000, otherwise: 10 }).describe('how many of them'),
  nearMinScore: decimal.describe('those alone that score this much'),
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
