import { notFound } from '@recordbus/errors';
import { type Route, rawJson, route, versionsOfIfMatch, withHeaders } from '@recordbus/http';
import { anyForm } from '@recordbus/schema';
import { z } from 'zod';
import { withFiles } from '../files/file-changes.ts';
import { withUpload } from '../files/with-upload.ts';
import { etagOf } from '../record/etag.ts';
import { callOf } from '../rules/rule-context.ts';
import { answerOnce, keepsItself } from '../write/answer-once.ts';
import { isRelaxed } from '../write/is-relaxed.ts';
import { modeOfUpdate } from '../write/prepare-update.ts';
import { exists, updateRecord } from '../write/update-record.ts';
import { failureError } from '../write/write-failure.ts';
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
      const target = { collection: await deps.collections.admit(request), recordId: id };
      // A form for a record that does not exist is refused before its body is read (files §3.9).
      if (input.multipart && !(await exists(deps.database.query, target.collection, { id }))) throw notFound('record');
      return withUpload(input, target, deps, (upload) =>
        deps.collections.serve(request, (collection) => {
          const versions = versionsOfIfMatch(input.header('if-match'));
          const body = withFiles(collection, upload?.body ?? input.body, upload);
          const call = callOf('PATCH', { ...input, body }, deps);
          const mode = modeOfUpdate(deps.hooks, collection, call);
          return answerOnce(input, keepsItself(collection, mode), ({ key: keptFor, keepAnswer }) =>
            deps.write({ mode, upload, isRelaxed: isRelaxed(collection), keepAnswer }, async (unit) => {
              const change = { id, body, upload, versions, keptFor };
              const result = await updateRecord(unit, collection, change, call, deps);
              if (result.outcome !== 'written') throw failureError(result, call);
              return rawJson(200, result.body, { ETag: etagOf(result.version) });
            }),
          );
        }),
      );
    },
  });
