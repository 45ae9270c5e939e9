import { notFound } from '@recordbus/errors';
import { type Route, rawJson, route, versionsOfIfMatch, withHeaders } from '@recordbus/http';
import { anyForm } from '@recordbus/schema';
import { z } from 'zod';
import { openAnnounced } from '../files/announced-files.ts';
import { withFiles } from '../files/file-changes.ts';
import { receiveRecordForm } from '../files/receive-record-form.ts';
import { etagOf } from '../record/etag.ts';
import { callOf } from '../rules/rule-context.ts';
import { isRelaxed } from '../write/is-relaxed.ts';
import { modeOfUpdate } from '../write/prepare-update.ts';
import { exists, updateRecord } from '../write/update-record.ts';
import { failureError } from '../write/write-failure.ts';
import { writeOnce } from '../write/write-once.ts';
import { recordParams, recordPaths } from './record-paths.ts';
import { anyRecord, etagHeader, ifMatchHeader } from './record-schema.ts';
import { admitTo, type RouteDeps, requestOf } from './route-deps.ts';

/** `PATCH /api/<col>/<id>`. */
export const updateRoute = (deps: RouteDeps): Route =>
  route({
    method: 'PATCH',
    idempotent: true,
    answersOnce: true,
    path: recordPaths,
    access: 'public',
    scope: 'records:write',
    action: 'update',
    summary: "Change a record's fields",
    params: recordParams,
    body: z.record(z.string(), z.unknown()),
    multipartLimitBytes: deps.maxUploadBytes,
    multipartBody: anyForm,
    requestHeaders: ifMatchHeader,
    answers: {
      200: withHeaders(anyRecord, etagHeader),
      403: 'the update rule refuses',
      404: 'no such collection or record',
      405: 'a view collection is read-only',
      412: 'the record has another version than If-Match names',
      413: 'the body is too large',
      415: 'the body is neither JSON nor multipart/form-data',
      422: 'a field is refused',
    },
    admit: admitTo('update', deps),
    handler: async (input) => {
      const request = requestOf('update', input);
      const { id } = input.params;
      const collection = await deps.collections.admit(request);
      // A form for a record that does not exist is refused before its body is read (files §3.9).
      if (input.multipart && !(await exists(deps.database.query, collection, { id }))) throw notFound('record');
      await using announced = openAnnounced(deps);
      const upload = await receiveRecordForm(input, { collection, recordId: id }, announced, deps);
      const reply = await writeOnce(input, request, deps, (collection) => {
        const versions = versionsOfIfMatch(input.header('if-match'));
        const body = withFiles(collection, upload?.body ?? input.body, upload);
        const call = callOf('PATCH', { ...input, body }, deps);
        return {
          mode: modeOfUpdate(deps.hooks, collection, call),
          isRelaxed: isRelaxed(collection),
          upload,
          async run(unit, keptFor) {
            const change = { id, body, upload, versions, keptFor };
            const result = await updateRecord(unit, collection, change, call, deps);
            if (result.outcome !== 'written') throw failureError(result, call);
            return rawJson(200, result.body, { ETag: etagOf(result.version) });
          },
        };
      });
      announced.keep();
      return reply;
    },
  });
