import { notFound } from '@recordbus/shared/errors';
import { type Route, rawJson, route, withHeaders } from '@recordbus/shared/http';
import { findRecord } from '../read/get-record.ts';
import { readerFor } from '../read/reader-for.ts';
import { etagOf, isNoneMatch } from '../record/etag.ts';
import { listQuery } from './list.ts';
import { etagHeader, recordJson } from './record-json.ts';
import { recordParams, recordPaths } from './record-paths.ts';
import { admitTo, askingOf, type RouteDeps, requestOf } from './route-deps.ts';

/** `GET /api/<col>/<id>`. */
export const getRoute = (deps: RouteDeps): Route =>
  route({
    method: 'GET',
    path: recordPaths,
    access: 'public',
    action: 'view',
    summary: 'Read a record',
    params: recordParams,
    query: listQuery.pick({ fields: true, expand: true }),
    requestHeaders: { 'If-None-Match': 'the ETag of the version that the caller has' },
    answers: {
      200: withHeaders(recordJson, etagHeader),
      304: 'the caller has this version; never given with expand',
      400: 'a parameter can not be read',
      403: 'the view rule refuses',
      404: 'no such collection or record',
    },
    admit: admitTo('view', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('view', input), async (collection) => {
        const found = await findRecord(
          readerFor(collection, deps.database),
          collection,
          { id: input.params.id, ...input.query },
          askingOf('GET', input, deps),
          deps.sealing,
        );
        if (!found) throw notFound('record');
        // A row without `updated` has no version to speak of (contract §2).
        if (found.updatedAtSec === null) return rawJson(200, found.body);
        const headers = { ETag: etagOf(found.updatedAtSec) };
        // The tag is the record's own: it does not tell whether the records that are shown with it have changed.
        const isKnown =
          input.query.expand === undefined && isNoneMatch(input.header('if-none-match'), found.updatedAtSec);
        return isKnown ? { status: 304, headers } : rawJson(200, found.body, headers);
      }),
  });
