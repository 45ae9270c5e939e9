import { notFound } from '@recordbus/shared/errors';
import { type Route, rawJson, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { findRecord } from '../read/get-record.ts';
import { readerFor } from '../read/reader-for.ts';
import { etagOf, isNoneMatch } from '../record/etag.ts';
import { notServed, text } from './query-values.ts';
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
    query: z.object({ fields: text, expand: notServed }),
    answers: {
      200: z.record(z.string(), z.unknown()),
      304: 'the caller has this version',
      403: 'the view rule refuses',
      404: 'no such collection or record',
    },
    admit: admitTo('view', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('view', input), async (collection) => {
        const found = await findRecord(
          readerFor(collection, deps.database),
          collection,
          input.params.id,
          input.query.fields,
          askingOf('GET', input, deps),
        );
        if (!found) throw notFound('record');
        // A row without `updated` has no version to speak of (contract §2).
        if (found.updatedAtSec === null) return rawJson(200, found.body);
        const headers = { ETag: etagOf(found.updatedAtSec) };
        const isKnown = isNoneMatch(input.header('if-none-match'), found.updatedAtSec);
        return isKnown ? { status: 304, headers } : rawJson(200, found.body, headers);
      }),
  });
