import { malformedParameter } from '@recordbus/errors';
import { cursorPageOf, type Route, rawJson, route } from '@recordbus/http';
import { consistencyHeaders, stateToSee } from '@recordbus/request/consistency';
import { listPage } from '../read/list-page.ts';
import { listQuery } from '../read/list-query.ts';
import { callOf } from '../rules/rule-context.ts';
import { readNear } from '../vector/near-request.ts';
import { collectionParams, collectionPaths } from './record-paths.ts';
import { anyRecord, tooExpensive } from './record-schema.ts';
import { admitTo, type RouteDeps, requestOf } from './route-deps.ts';

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
      200: cursorPageOf(anyRecord, 'Record'),
      400: 'a parameter is invalid',
      403: 'the list rule refuses',
      404: 'no such collection',
      422: `nearVector does not fit the field; ${tooExpensive}`,
    },
    admit: admitTo('list', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('list', input), async (collection) => {
        const call = callOf('GET', input, deps);
        const near = readNear(input.query, collection, call);
        if (near && input.query.cursor !== undefined)
          throw malformedParameter('cursor', 'cannot be combined with nearVector');
        const body = near
          ? await deps.searchVectors(collection, near, input.query, call)
          : await listPage(
              deps.reads.from({ after: stateToSee(input) }),
              collection,
              input.query,
              call,
              deps.encryption,
            );
        return rawJson(200, body);
      }),
  });
