import { newId } from '@recordbus/database';
import { type Route, rawJson, route, withHeaders } from '@recordbus/http';
import { anyForm } from '@recordbus/schema';
import { z } from 'zod';
import { openAnnounced } from '../files/announced-files.ts';
import { withFiles } from '../files/file-changes.ts';
import { receiveRecordForm } from '../files/receive-record-form.ts';
import { etagOf } from '../record/etag.ts';
import { callOf } from '../rules/rule-context.ts';
import { createRecord } from '../write/create-record.ts';
import { isRelaxed } from '../write/is-relaxed.ts';
import { demandCaptcha } from '../write/sign-up-captcha.ts';
import { modeOf } from '../write/write-hooks.ts';
import { writeOnce } from '../write/write-once.ts';
import { collectionParams, collectionPaths } from './record-paths.ts';
import { anyRecord, etagHeader } from './record-schema.ts';
import { admitTo, type RouteDeps, requestOf } from './route-deps.ts';

/** `POST /api/<col>`. */
export const createRoute = (deps: RouteDeps): Route =>
  route({
    method: 'POST',
    idempotent: true,
    answersOnce: true,
    path: collectionPaths,
    access: 'public',
    scope: 'records:write',
    action: 'create',
    summary: 'Create a record',
    params: collectionParams,
    body: z.record(z.string(), z.unknown()),
    multipartLimitBytes: deps.maxUploadBytes,
    multipartBody: anyForm,
    answers: {
      201: withHeaders(anyRecord, etagHeader),
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
      const collection = await deps.collections.admit(request);
      await using announced = openAnnounced(deps);
      const form = { collection, recordId: newId(), isNew: true } as const;
      const upload = await receiveRecordForm(input, form, announced, deps);
      const given = { ...input, body: upload?.body ?? input.body };
      const { hasSolvedCaptcha, body: sent } = await demandCaptcha(deps.captchas, collection, given);
      const reply = await writeOnce(input, request, deps, (collection) => {
        const body = withFiles(collection, sent, upload);
        const call = { ...callOf('POST', { ...input, body }, deps), hasSolvedCaptcha };
        return {
          mode: modeOf(deps.hooks, collection, 'create'),
          isRelaxed: isRelaxed(collection),
          async run(unit, keptFor) {
            const record = { body, upload, announced: upload?.announced, keptFor };
            const written = await createRecord(unit, collection, record, call, deps);
            return rawJson(201, written.body, { ETag: etagOf(written.version) });
          },
        };
      });
      announced.keep();
      return reply;
    },
  });
