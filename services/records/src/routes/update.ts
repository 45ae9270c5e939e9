import { type Route, rawJson, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { etagOf, versionsOfIfMatch } from '../record/etag.ts';
import { updateRecord } from '../write/update-record.ts';
import { recordParams, recordPaths } from './record-paths.ts';
import { refuseUnwritten } from './refuse-unwritten.ts';
import { admitTo, askingOf, type RouteDeps, requestOf } from './route-deps.ts';

/** `PATCH /api/<col>/<id>`. */
export const updateRoute = (deps: RouteDeps): Route =>
  route({
    method: 'PATCH',
    path: recordPaths,
    access: 'public',
    action: 'update',
    summary: 'Change fields of a record',
    params: recordParams,
    body: z.record(z.string(), z.unknown()),
    answers: {
      200: z.record(z.string(), z.unknown()),
      403: 'the update rule refuses',
      404: 'no such collection or record',
      405: 'a view collection is read-only',
      412: 'the record is not of the version that If-Match names',
      422: 'a field is refused',
    },
    admit: admitTo('update', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('update', input), async (collection) => {
        const versions = versionsOfIfMatch(input.header('if-match'));
        const change = { id: input.params.id, body: input.body, versions };
        const result = await updateRecord(
          deps.database.query,
          collection,
          change,
          input.context,
          askingOf('PATCH', input, deps),
          deps,
        );
        if (result.outcome !== 'written') throw refuseUnwritten(result, input.context.principal);
        deps.wakeRelay();
        if (collection.type === 'auth') deps.tellGateways();
        return rawJson(200, result.body, { ETag: etagOf(result.updatedAtSec) });
      }),
  });
