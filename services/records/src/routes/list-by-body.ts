import { cursorPageOf, type Route, rawJson, route } from '@recordbus/http';
import { z } from 'zod';
import { listMembers, readListBody } from '../read/list-body.ts';
import { callOf } from '../rules/rule-context.ts';
import { answerList } from './answer-list.ts';
import { ofSearches } from './list.ts';
import { collectionParams, collectionPaths } from './record-paths.ts';
import { anyRecord, tooExpensive } from './record-schema.ts';
import { admitTo, type RouteDeps, requestOf } from './route-deps.ts';

/** The API document shows the longest path, which comes first. In the others, `list` is in an id's place. */
const paths = collectionPaths.map((path) => `${path}/list`).reverse();

const maxIds = 1000;

const body = listMembers.extend({
  ids: z
    .array(z.string().refine((id) => !id.includes('\0'), 'must not contain NUL'))
    .max(maxIds)
    .optional()
    .describe('the records to list; `sort: "ids"` keeps their order'),
});

/** `POST /api/<col>/list`: a list whose parameters are too long for an address (records §3.7). */
export const listByBodyRoute = (deps: RouteDeps): Route =>
  route({
    method: 'POST',
    path: paths,
    access: 'public',
    scope: 'records:read',
    action: 'list',
    summary: 'List records, with the parameters in the body',
    params: collectionParams,
    body,
    answers: {
      200: cursorPageOf(anyRecord, 'Record', ofSearches),
      400: 'a parameter is invalid',
      403: 'the list rule refuses',
      404: 'no such collection',
      409: 'the search index is being built',
      422: `a member is unknown or has the wrong type, or nearVector does not fit the field; ${tooExpensive}`,
    },
    admit: admitTo('list', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('list', input), async (collection) => {
        const { context, header } = input;
        const { ids, ...members } = input.body;
        const { parameters, queryText } = readListBody(members, input);
        const call = callOf('GET', { context, header, queryText }, deps);
        return rawJson(200, await answerList(deps, deps.reads, collection, { ...parameters, ids }, call));
      }),
  });
