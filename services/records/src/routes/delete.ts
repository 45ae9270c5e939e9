import { ok, type Route, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { deleteRecord } from '../delete/delete-record.ts';
import { versionsOfIfMatch } from '../record/etag.ts';
import { ifMatchHeader } from './record-json.ts';
import { recordParams, recordPaths } from './record-paths.ts';
import { refuseUnwritten } from './refuse-unwritten.ts';
import { admitTo, askingOf, type RouteDeps, requestOf } from './route-deps.ts';

/** `DELETE /api/<col>/<id>`. */
export const deleteRoute = (deps: RouteDeps): Route =>
  route({
    method: 'DELETE',
    path: recordPaths,
    access: 'public',
    action: 'delete',
    summary: 'Delete a record',
    params: recordParams,
    requestHeaders: ifMatchHeader,
    answers: {
      200: z.null(),
      403: 'the delete rule refuses',
      404: 'no such collection or record',
      405: 'a view collection is read-only',
      409: 'other records refer to it through a relation that restricts',
      412: 'the record is not of the version that If-Match names',
    },
    admit: admitTo('delete', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('delete', input), async (collection) => {
        const versions = versionsOfIfMatch(input.header('if-match'));
        const removal = { id: input.params.id, versions };
        const asking = askingOf('DELETE', input, deps);
        const { context } = input;
        const result = await deleteRecord(deps.database, collection, removal, context, asking, deps);
        if (result.outcome !== 'deleted') throw refuseUnwritten(result, context.principal);
        deps.wakeRelay();
        deps.removals.wake();
        if (collection.type === 'auth') deps.tellGateways();
        return ok(null);
      }),
  });
