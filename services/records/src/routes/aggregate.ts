import { pageOf, type Route, rawJson, route } from '@recordbus/http';
import { z } from 'zod';
import { aggregateQuery } from '../aggregate/aggregate-query.ts';
import { aggregateRecords } from '../aggregate/aggregate-records.ts';
import { callOf } from '../rules/rule-context.ts';
import { collectionParams, collectionPaths } from './record-paths.ts';
import { tooExpensive } from './record-schema.ts';
import { admitTo, type RouteDeps, requestOf } from './route-deps.ts';

/** The API document shows the longest path, which comes first. In the others, `aggregate` is in an id's place. */
const paths = collectionPaths.map((path) => `${path}/aggregate`).reverse();

const group = z
  .record(z.string(), z.unknown())
  .describe("a group's keys and values: author, month_created, count, sum_price");

/** `GET /api/<col>/aggregate`. */
export const aggregateRoute = (deps: RouteDeps): Route =>
  route({
    method: 'GET',
    path: paths,
    access: 'public',
    scope: 'records:read',
    action: 'list',
    summary: "Group records and compute each group's values",
    params: collectionParams,
    query: aggregateQuery,
    answers: {
      200: pageOf(group),
      400: 'a parameter is invalid',
      403: 'the list rule refuses',
      404: 'no such collection',
      422: `a computed value is too large or too small for a number, or ${tooExpensive}`,
    },
    admit: admitTo('list', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('list', input), async (collection) =>
        rawJson(200, await aggregateRecords(deps.reads, collection, input.query, callOf('GET', input, deps))),
      ),
  });
