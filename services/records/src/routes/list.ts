import { cursorPageOf, type Route, rawJson, route } from '@recordbus/http';
import { consistencyHeaders, stateToSee } from '@recordbus/request/consistency';
import { z } from 'zod';
import { listQuery } from '../read/list-query.ts';
import { callOf } from '../rules/rule-context.ts';
import { answerList } from './answer-list.ts';
import { collectionParams, collectionPaths } from './record-paths.ts';
import { anyRecord, tooExpensive } from './record-schema.ts';
import { admitTo, type RouteDeps, requestOf } from './route-deps.ts';

/** What only a search's answer has (search §3, §4). */
export const ofSearches = {
  ranked: z.int().optional().describe('how many matches were ranked, if not all'),
  facets: z
    .record(z.string(), z.record(z.string(), z.int()))
    .optional()
    .describe('by field and value, how many matches have it'),
  corrected: z
    .record(z.string(), z.array(z.string()))
    .optional()
    .describe('by word that no record has, the words that were searched instead'),
  more: z.array(z.string()).optional().describe('the fields whose facets are not complete'),
};

/** `GET /api/<col>`. */
export const listRoute = (deps: RouteDeps): Route =>
  route({
    method: 'GET',
    path: collectionPaths,
    access: 'public',
    scope: 'records:read',
    action: 'list',
    summary: 'List records',
    params: collectionParams,
    query: listQuery,
    requestHeaders: consistencyHeaders,
    answers: {
      200: cursorPageOf(anyRecord, 'Record', ofSearches),
      400: 'a parameter is invalid',
      403: 'the list rule refuses',
      404: 'no such collection',
      409: 'the search index is being built',
      422: `nearVector does not fit the field; ${tooExpensive}`,
    },
    admit: admitTo('list', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('list', input), async (collection) => {
        const reads = deps.reads.from({ after: stateToSee(input) });
        return rawJson(200, await answerList(deps, reads, collection, input.query, callOf('GET', input, deps)));
      }),
  });
