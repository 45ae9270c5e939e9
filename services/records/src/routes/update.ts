import { notFound } from '@recordbus/shared/errors';
import { type Route, rawJson, route, withHeaders } from '@recordbus/shared/http';
import { z } from 'zod';
import { fileFieldsOf, withFiles } from '../files/file-changes.ts';
import { etagOf, versionsOfIfMatch } from '../record/etag.ts';
import { exists, updateRecord } from '../write/update-record.ts';
import { keptInWriting } from './kept-in-writing.ts';
import { etagHeader, ifMatchHeader, recordJson } from './record-json.ts';
import { recordParams, recordPaths } from './record-paths.ts';
import { refuseUnwritten } from './refuse-unwritten.ts';
import { admitTo, askingOf, type RouteDeps, requestOf } from './route-deps.ts';
import { withUpload } from './with-upload.ts';

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
    multipartLimitBytes: deps.maxUploadBytes,
    requestHeaders: ifMatchHeader,
    answers: {
      200: withHeaders(recordJson, etagHeader),
      403: 'the update rule refuses',
      404: 'no such collection or record',
      405: 'a view collection is read-only',
      412: 'the record is not of the version that If-Match names',
      413: 'the body is too large',
      415: 'the body is neither JSON nor multipart/form-data',
      422: 'a field is refused',
    },
    admit: admitTo('update', deps),
    handler: async (input) => {
      const request = requestOf('update', input);
      const { id } = input.params;
      const target = { collection: await deps.collections.admit(request), recordId: id };
      // No body is read for a record that is not there (contract §2).
      if (input.multipart && !(await exists(deps.database.query, target.collection, id))) throw notFound('record');
      return withUpload(input, target, deps, (upload) =>
        deps.collections.serve(request, async (collection) => {
          const versions = versionsOfIfMatch(input.header('if-match'));
          const body = withFiles(collection, upload?.body ?? input.body, upload);
          const asking = askingOf('PATCH', { ...input, body }, deps);
          const { context } = input;
          const isHooked = deps.hooks.find(collection, 'update') !== undefined;
          const reply = await keptInWriting({ ...deps, isHooked, upload }, async (query) => {
            const change = { id, body, upload, versions };
            const result = await updateRecord(query, collection, change, context, asking, deps);
            if (result.outcome !== 'written') throw refuseUnwritten(result, context.principal);
            return rawJson(200, result.body, { ETag: etagOf(result.updatedAtSec) });
          });
          deps.wakeRelay();
          if (fileFieldsOf(collection).length > 0) deps.removals.wake();
          if (collection.type === 'auth') deps.tellGateways();
          return reply;
        }),
      );
    },
  });
