import { type Route, rawJson, route, versionsOfIfMatch, withHeaders } from '@recordbus/http';
import { restoreRecord } from '../history/restore-record.ts';
import { etagOf } from '../record/etag.ts';
import { callOf } from '../rules/rule-context.ts';
import { failureError } from '../write/write-failure.ts';
import { modeOf } from '../write/write-hooks.ts';
import { widestMode } from '../write/write-mode.ts';
import { pathsOf, requireHistory } from './history.ts';
import { recordParams } from './record-paths.ts';
import { anyRecord, etagHeader, ifMatchHeader } from './record-schema.ts';
import { restoreQuery } from './restore-query.ts';
import { admitTo, type RouteDeps, requestOf } from './route-deps.ts';

/** `POST /api/<col>/<id>/restore`. */
export const restoreRoute = (deps: RouteDeps): Route =>
  route({
    method: 'POST',
    idempotent: true,
    path: pathsOf('restore'),
    access: 'admin',
    scope: 'records:write',
    action: 'update',
    summary: 'Restore a record to an earlier version',
    params: recordParams,
    query: restoreQuery,
    requestHeaders: ifMatchHeader,
    answers: {
      200: withHeaders(anyRecord, etagHeader),
      201: withHeaders(anyRecord, etagHeader),
      404: 'no such collection, record or version, or the collection has no history',
      405: 'a view collection is read-only',
      409: 'the record was deleted, without deleted=1',
      412: 'the record has another version than If-Match names',
      422: 'a value can no longer be written',
    },
    admit: admitTo('update', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('update', input), (collection) => {
        requireHistory(collection);
        const versions = versionsOfIfMatch(input.header('if-match'));
        const restoreRequest = { id: input.params.id, ...input.query, versions };
        const call = callOf('POST', input, deps);
        const operations = input.query.deleted ? (['update', 'create'] as const) : (['update'] as const);
        const modes = operations.map((operation) => modeOf(deps.hooks, collection, operation));
        const { keepAnswer } = input;
        return deps.write({ mode: widestMode('transaction', ...modes), keepAnswer }, async (unit) => {
          const result = await restoreRecord(unit, collection, restoreRequest, call, deps);
          if (!('body' in result)) throw failureError(result, call);
          const status = result.outcome === 'created' ? 201 : 200;
          return rawJson(status, result.body, { ETag: etagOf(result.version) });
        });
      }),
  });
