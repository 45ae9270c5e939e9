import { ok, type Route, route, versionsOfIfMatch } from '@recordbus/http';
import { z } from 'zod';
import { isRelaxedDelete, modeOfCallersDelete } from '../delete/delete-mode.ts';
import { deleteRecord } from '../delete/delete-record.ts';
import { callOf } from '../rules/rule-context.ts';
import { failureError } from '../write/write-failure.ts';
import { recordParams, recordPaths } from './record-paths.ts';
import { ifMatchHeader } from './record-schema.ts';
import { admitTo, type RouteDeps, requestOf } from './route-deps.ts';

/** `DELETE /api/<col>/<id>`. */
export const deleteRoute = (deps: RouteDeps): Route =>
  route({
    method: 'DELETE',
    path: recordPaths,
    access: 'public',
    scope: 'records:delete',
    action: 'delete',
    summary: 'Delete a record',
    params: recordParams,
    requestHeaders: ifMatchHeader,
    answers: {
      200: z.null(),
      403: 'the delete rule refuses',
      404: 'no such collection or record',
      405: 'a view collection is read-only',
      409: 'other records refer to it by a relation with restrict',
      412: 'the record has another version than If-Match names',
    },
    admit: admitTo('delete', deps),
    handler: (input) =>
      deps.collections.serve(requestOf('delete', input), (collection) => {
        const request = { id: input.params.id, versions: versionsOfIfMatch(input.header('if-match')) };
        const call = callOf('DELETE', input, deps);
        return deps.write(
          {
            mode: modeOfCallersDelete({ collection, id: request.id }, call, deps),
            isRelaxed: isRelaxedDelete(collection, deps),
          },
          async (unit) => {
            const result = await deleteRecord(unit, collection, request, call, deps);
            if (result.outcome !== 'deleted') throw failureError(result, call);
            return ok(null);
          },
        );
      }),
  });
