import { Readable } from 'node:stream';
import { type AccountHooks, hasAccounts } from '@recordbus/accounts';
import type { EgressClient } from '@recordbus/egress';
import { notFound } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import type { QuerySchema } from '@recordbus/query';
import type { Principal, RequestContext } from '@recordbus/request/context';
import type { Collection } from '@recordbus/schema';
import { openAnnounced } from '../files/announced-files.ts';
import { fileNamesIn, withFiles } from '../files/file-changes.ts';
import type { UploadDeps } from '../files/receive-record-form.ts';
import { createUploadParts, type Upload } from '../files/upload-parts.ts';
import { readStored } from '../read/read-stored.ts';
import type { ServedCollections } from '../record/served-collections.ts';
import { callOf, withoutRules } from '../rules/rule-context.ts';
import { lockRow } from '../write/lock-record.ts';
import { updateRecord } from '../write/update-record.ts';
import { failureError } from '../write/write-failure.ts';
import { modeOf } from '../write/write-hooks.ts';
import { widestMode } from '../write/write-mode.ts';
import type { WriteRules } from '../write/write-rules.ts';
import type { RunWrite, WriteUnit } from '../write/write-unit.ts';
import { fetchPicture, type Picture } from './fetch-picture.ts';

interface PictureDeps extends WriteRules, Omit<UploadDeps, 'maxUploadBytes'> {
  readonly write: RunWrite;
  readonly collections: ServedCollections;
  readonly schema: QuerySchema;
}

/** Settings decide about pictures, not the collection's rules. */
const principal: Principal = { type: 'admin', id: 'auth', email: '' };

interface Target {
  readonly name: string;
  readonly id: string;
  readonly field: string;
}

/**
 * Creates the function that gives a new user a provider's picture: it fetches the picture through the egress filter and
 * writes it to each field, like an update with an upload. Failures are logged and never thrown.
 */
export function createTakePicture(
  deps: PictureDeps,
  { client, log }: { readonly client: Pick<EgressClient, 'request'>; readonly log: Logger },
): AccountHooks['takePicture'] {
  return async (name, { id, url, fields }, context) => {
    const warn = (error: unknown, field?: string) =>
      log.warn({ err: error, collection: name, user: id, field }, "cannot store a new user's picture");
    const picture = await fetchPicture(client, url).catch((error) => warn(error));
    if (!picture) return;
    for (const field of fields)
      await storePicture(deps, { name, id, field }, picture, context).catch((error) => warn(error, field));
  };
}

async function storePicture(
  deps: PictureDeps,
  { name, id, field }: Target,
  { bytes, filename }: Picture,
  context: RequestContext,
): Promise<void> {
  const { storage, collections, hooks, write } = deps;
  const request = { collection: name, action: 'update', principal } as const;
  const target = await collections.admit(request);
  if (!hasAccounts(target)) throw notFound('collection');
  await using announced = openAnnounced(deps);
  const parts = createUploadParts({ storage, collection: target, recordId: id, announced });
  await parts.addFile(field, Readable.from([bytes]), filename);
  const upload = parts.take();
  await collections.serve(request, (collection) =>
    write({ mode: widestMode('transaction', modeOf(hooks, collection, 'update')), upload }, (unit) =>
      writePicture(unit, collection, { id, upload }, context, deps),
    ),
  );
  announced.keep();
}

/** Writes the file's name, unless the user has uploaded a picture meanwhile. */
async function writePicture(
  unit: WriteUnit,
  collection: Collection,
  { id, upload }: { readonly id: string; readonly upload: Upload },
  context: RequestContext,
  deps: PictureDeps,
): Promise<void> {
  await lockRow(unit.query, collection, id);
  const stored = (await readStored(unit.query, collection, [id], deps.encryption)).get(id);
  if (!stored) throw notFound('user');
  const fields = collection.fields.filter(({ name }) => upload.files.has(name));
  if (fileNamesIn({ fields }, stored).length > 0) throw new Error('the user already has a picture');
  const body = withFiles(collection, {}, upload);
  const call = withoutRules(
    callOf('PATCH', { context, body, queryText: () => undefined, header: () => undefined }, deps),
  );
  const result = await updateRecord(unit, collection, { id, body, upload, versions: undefined }, call, deps);
  if (result.outcome !== 'written') throw failureError(result, call);
}
