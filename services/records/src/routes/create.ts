import { newId } from '@recordbus/database';
import { type Route, rawJson, route, withHeaders } from '@recordbus/shared/http';
import { z } from 'zod';
import { withFiles } from '../files/file-changes.ts';
import { etagOf } from '../record/etag.ts';
import { createRecord } from '../write/create-record.ts';
import { keptInWriting } from './kept-in-writing.ts';
import { etagHeader, recordJson } from './record-json.ts';
import { collectionParams, collectionPaths } from './record-paths.ts';
import { admitTo, askingOf, type RouteDeps, requestOf } from './route-deps.ts';
import { withUpload } from './with-upload.ts';

/** `POST /api/<col>`. */
export const createRoute = (deps: RouteDeps): Route =>
  route({
    method: 'POST',
    idempotent: true,
    path: collectionPaths,
    access: 'public',
    action: 'create',
    summary: 'Create a record',
    params: collectionParams,
    body: z.record(z.string(), z.unknown()),
    multipartLimitBytes: deps.maxUploadBytes,
    answers: {
      201: withHeaders(recordJson, etagHeader),
      403: 'the create rule refuses',
      404: 'no such collection',
      405: 'a view collection is read-only',
      413: 'the body is too large',
      415: 'the body is neither JSON nor multipart/form-data',
      422: 'a field is refused',
    },
    admit: admitTo('create', deps),
    handler: async (input) => {
      const request = requestOf('create', input);
      const target = { collection: await deps.collections.admit(request), recordId: newId() };
      return withUpload(input, target, deps, (upload) =>
        deps.collections.serve(request, async (collection) => {
          const body = withFiles(collection, upload?.body ?? input.body, upload);
          const asking = askingOf('POST', { ...input, body }, deps);
          const { context, keepAnswer } = input;
          const isHooked = deps.hooks.find(collection, 'create') !== undefined;
          const reply = await keptInWriting({ ...deps, isHooked, keepAnswer, upload }, async (query) => {
            const record = await createRecord(query, collection, body, context, asking, deps, upload);
            return rawJson(201, record.body, { ETag: etagOf(record.updatedAtSec) });
          });
          deps.wakeRelay();
          return reply;
        }),
      );
    },
  });
