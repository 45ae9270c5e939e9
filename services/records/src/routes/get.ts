import { notFound } from '@recordbus/errors';
import { type Route, rawJson, route, withHeaders } from '@recordbus/http';
import { consistencyHeaders, stateToSee } from '@recordbus/request/consistency';
import { hasTimeColumn } from '@recordbus/schema';
import { findRecord } from '../read/get-record.ts';
import { listQuery } from '../read/list-query.ts';
import { contentTag, etagOf, isNoneMatch } from '../record/etag.ts';
import { callOf } from '../rules/rule-context.ts';
import { recordParams, recordPaths } from './record-paths.ts';
import { anyRecord, etagHeader, tooExpensive } from './record-schema.ts';
import { admitTo, type RouteDeps, requestOf } from './route-deps.ts';

/** `GET /api/<col>/<id>`. */
export const getRoute = (deps: RouteDeps): Route =>
  route({
    method: 'GET',
    path: recordPaths,
    access: 'public',
    scope: 'records:read',
    action: 'view',
    summary: 'Read a record',
    params: recordParams,
    query: listQuery.pick({ fields: true, expand: true, consistency: true }),
    requestHeaders: {
      ...consistencyHeaders,
      'If-None-Match': 'the ETag of the version that the caller has',
    },
    answers: {
      200: withHeaders(anyRecord, etagHeader),
      304: 'the caller has this version; never with expand',
      400: 'a parameter is invalid',
      403: 'the view rule refuses',
      404: 'no such collection or record',
      422: tooExpensive,
    },
    admit: admitTo('view', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('view', input), async (collection) => {
        const found = await findRecord(
          deps.reads.from({ after: stateToSee(input) }),
          collection,
          { id: input.params.id, ...input.query },
          callOf('GET', input, deps),
          deps.encryption,
        );
        if (!found) throw notFound('record');
        // A view's row without `updated` has no ETag (views §3.3).
        if (!hasTimeColumn(collection, 'updated_at')) return rawJson(200, found.body);
        const version = found.version ?? contentTag(found.body);
        const headers = { ETag: etagOf(version) };
        // If the answer depends on more than the version, a get is never 304 (records §9.3).
        const isOfVersion = input.query.expand === undefined && found.isFixedByVersion;
        const isKnown = isOfVersion && isNoneMatch(input.header('if-none-match'), version);
        return isKnown ? { status: 304, headers } : rawJson(200, found.body, headers);
      }),
  });
