import { type Route, rawJson, route, versionsOfIfMatch, withHeaders } from '@recordbus/http';
import { anyForm, type Collection } from '@recordbus/schema';
import { z } from 'zod';
import { openAnnounced } from '../files/announced-files.ts';
import { withFiles } from '../files/file-changes.ts';
import { awaitRemoval } from '../files/pending-removal.ts';
import { receiveRecordForm } from '../files/receive-record-form.ts';
import { etagOf, readOnlyNew } from '../record/etag.ts';
import { readNewId } from '../record/record-id.ts';
import { callOf } from '../rules/rule-context.ts';
import { isRelaxed } from '../write/is-relaxed.ts';
import { modeOfPut, type PutRequest, putRecord } from '../write/put-record.ts';
import { readKey, readKeyFields } from '../write/record-key.ts';
import { exists } from '../write/update-record.ts';
import { type PlannedWrite, writeOnce } from '../write/write-once.ts';
import { collectionParams, collectionPaths, recordParams, recordPaths } from './record-paths.ts';
import { anyRecord, etagHeader } from './record-schema.ts';
import { admitTo, type RouteDeps, requestOf } from './route-deps.ts';

const actions = ['update', 'create'] as const;

const body = z.record(z.string(), z.unknown());

const requestHeaders = {
  'If-Match': "the current version's ETag, or * for any; 412 for another version, or if there is no record",
  'If-None-Match': '* to only create a record; 412 if it exists',
};

const answers = {
  200: withHeaders(anyRecord, etagHeader),
  201: withHeaders(anyRecord, etagHeader),
  403: 'the update rule refuses, or without a record the create rule',
  404: 'no such collection',
  405: 'a view collection is read-only',
  412: 'If-Match or If-None-Match rules the record out',
  413: 'the body is too large',
};

/** `PUT /api/<col>/<id>`: creates the record with this id, or changes it. */
export const putRoute = (deps: RouteDeps): Route =>
  route({
    method: 'PUT',
    idempotent: true,
    answersOnce: true,
    path: recordPaths,
    access: 'public',
    scope: 'records:write',
    action: 'update',
    otherAction: 'create',
    summary: 'Create or change the record with an id',
    params: recordParams,
    body,
    multipartLimitBytes: deps.maxUploadBytes,
    multipartBody: anyForm,
    requestHeaders,
    answers: {
      ...answers,
      409: "a deleted record's files with this id are being removed, or the record keeps changing",
      415: 'the body is neither JSON nor multipart/form-data',
      422: 'the id or a field is refused',
    },
    admit: admitTo(actions, deps),
    handler: async (input) => {
      const request = requestOf(actions, input);
      const id = readNewId(input.params.id);
      const { database, collections, removals } = deps;
      const conditions = conditionsOf(input.header);
      const collection = await collections.admit(request);
      await awaitRemoval(database.query, removals, collection, id);
      // A form that can only be refused is refused before its body is read (files §3.9).
      if (input.multipart && !(await exists(database.query, collection, { id })))
        collections.requireAction(collection, 'create', request.principal);
      await using announced = openAnnounced(deps);
      const upload = await receiveRecordForm(input, { collection, recordId: id }, announced, deps);
      const reply = await writeOnce(input, request, deps, (current) => {
        const body = withFiles(current, upload?.body ?? input.body, upload);
        return planPut(current, { id, body, upload, ...conditions }, input, deps);
      });
      announced.keep();
      return reply;
    },
  });

/** `PUT /api/<col>?on=<field>`: creates a record, or changes the one with the same values in unique fields. */
export const upsertRoute = (deps: RouteDeps): Route =>
  route({
    method: 'PUT',
    idempotent: true,
    answersOnce: true,
    path: collectionPaths,
    access: 'public',
    scope: 'records:write',
    action: 'update',
    otherAction: 'create',
    summary: 'Create a record, or change the one with the same value in a unique field',
    params: collectionParams,
    query: z.object({
      on: z
        .string('is required')
        .min(1, 'is required')
        .describe("a unique field, or a unique index's fields, separated by commas; the body has their values"),
    }),
    body,
    requestHeaders,
    answers: {
      ...answers,
      400: 'on does not name unique fields, or a parameter is invalid',
      409: 'the record keeps changing',
      415: 'the body is not JSON',
      422: 'a field is refused, or one in on has no value',
    },
    admit: admitTo(actions, deps),
    handler: (input) =>
      writeOnce(input, requestOf(actions, input), deps, async (collection) => {
        const fields = readKeyFields(collection, input.query.on, callOf('PUT', input, deps));
        const key = await readKey(collection, fields, input.body);
        return planPut(collection, { key, body: input.body, ...conditionsOf(input.header) }, input, deps);
      }),
  });

function planPut(
  collection: Collection,
  request: PutRequest,
  input: Parameters<typeof callOf>[1],
  deps: RouteDeps,
): PlannedWrite {
  const { upload, body } = request;
  const call = callOf('PUT', { ...input, body }, deps);
  return {
    mode: modeOfPut(collection, call, deps),
    isRelaxed: isRelaxed(collection),
    upload,
    async run(unit, keptFor) {
      const { isNew, body, version } = await putRecord(unit, collection, { ...request, keptFor }, call, deps);
      return rawJson(isNew ? 201 : 200, body, { ETag: etagOf(version) });
    },
  };
}

/** The conditions in the headers. Throws 400 for an If-None-Match other than `*`. */
function conditionsOf(header: (name: string) => string | undefined): Pick<PutRequest, 'versions' | 'only'> {
  const ifMatch = header('if-match');
  const isNew = readOnlyNew(header('if-none-match'));
  return {
    versions: versionsOfIfMatch(ifMatch),
    only: isNew ? 'create' : ifMatch === undefined ? undefined : 'change',
  };
}
