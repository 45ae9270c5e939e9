import type { IncomingMessage } from 'node:http';
import { recordAudit } from '@recordbus/audit';
import { type Database, newId, type Query } from '@recordbus/database';
import { payloadTooLarge, validationFailed } from '@recordbus/errors';
import { declaredBodyBytes, type KeepAnswer, type Reply } from '@recordbus/http';
import type { Collection } from '@recordbus/schema';
import type { Storage } from '@recordbus/storage';
import { type AnnouncedFiles, keepAnnounced } from '../../files/announced-files.ts';
import { type Job, type JobActor, showJob } from '../../jobs/job.ts';
import { addJob, findJob } from '../../jobs/job-store.ts';
import { type Call, passesRules } from '../../rules/rule-context.ts';
import { readCharset } from '../formats/charset.ts';
import { type ImportOptions, type ImportQuery, type RequestedOptions, readImportOptions } from './import-options.ts';
import { readBody } from './job-body.ts';
import { type ReceivedBody, receiveBody, scanBody } from './receive-body.ts';

/** What new imports depend on. */
export interface StartImportDeps {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly storage: Storage;
  maxBodyBytes(): number;
  /** Wakes every replica's worker. */
  wakeJobs(): void;
}

interface ImportRequest {
  readonly collection: Collection;
  readonly query: ImportQuery;
  readonly actor: JobActor;
  readonly call: Call;
  readonly stream: IncomingMessage | undefined;
  header(name: string): string | undefined;
  readonly keepAnswer?: KeepAnswer | undefined;
}

interface ImportBody extends ReceivedBody {
  readonly id: string;
  /** Whether an earlier job uploaded it. */
  readonly isEarlier: boolean;
}

/**
 * Stores an import's body and adds its job. The body is checked first, so a broken body is refused and nothing is
 * imported.
 */
export async function startImport(
  deps: StartImportDeps,
  request: ImportRequest,
  announced: AnnouncedFiles,
): Promise<Reply> {
  const { collection, query, call, header } = request;
  const options = readImportOptions(query, collection, { contentType: header('content-type'), call });
  const body = query.upload
    ? await findEarlier(deps, request, options, query.upload)
    : await receive(deps, request, options, announced);
  const { bytes, rows, columns, separator, start } = body;
  const id = body.isEarlier ? newId() : body.id;
  const reply = await deps.database.transaction(async (run) => {
    await keepAnnounced(run, announced.files);
    if (body.isEarlier) await holdBody(run, body.id);
    const job = await addJob(run, {
      id,
      kind: 'import',
      collection,
      actor: request.actor,
      request: { requestId: call.requestId, traceparent: call.traceparent, clientAddress: call.clientAddress },
      options: { ...options, columns, separator, start } satisfies ImportOptions,
      body: { id: body.id, bytes },
      rows,
      position: start,
    });
    await recordAudit(run, {
      action: 'records.import',
      context: { principal: call.principal, clientAddress: call.clientAddress },
      userAgent: header('user-agent'),
      target: { type: 'collection', id: collection.id },
      details: { job: id, mode: options.mode, events: options.isSilent ? 'none' : 'all', dry_run: options.isDryRun },
    });
    const answer: Reply = { status: 202, body: { data: showImport(job as Job<ImportOptions>) } };
    await request.keepAnswer?.(answer, run);
    return answer;
  });
  deps.wakeJobs();
  return reply;
}

/** Shows an import's job. */
export const showImport = (job: Job<ImportOptions>) => showJob(job, job.options.shown);

async function receive(
  { database, storage, maxBodyBytes }: StartImportDeps,
  { stream, query, collection, header }: ImportRequest,
  options: RequestedOptions,
  announced: AnnouncedFiles,
): Promise<ImportBody> {
  if (!stream) throw validationFailed({ body: 'is required, or upload' });
  const encoding = { named: query.encoding, charset: readCharset(header('content-type')) };
  const maxBytes = maxBodyBytes();
  if (declaredBodyBytes(stream) > maxBytes) throw payloadTooLarge(maxBytes);
  const id = newId();
  const deps = { query: database.query, storage, maxBytes };
  const received = await receiveBody(deps, { id, stream, encoding }, { options, collection }, announced);
  return { ...received, id, isEarlier: false };
}

/** Reads an earlier import's body again, since other parameters may produce other rows. */
async function findEarlier(
  { database, storage }: StartImportDeps,
  { stream, query, collection, call }: ImportRequest,
  options: RequestedOptions,
  jobId: string,
): Promise<ImportBody> {
  if (stream) throw validationFailed({ upload: 'is not for a request with a body' });
  if (query.encoding) throw validationFailed({ encoding: 'is not for an earlier body, which is in UTF-8 by now' });
  const job = await findJob(database.query, jobId);
  if (!job || !passesRules(call, { name: job.collection_name }, 'write'))
    throw validationFailed({ upload: 'no import has this id' });
  const source = readBody(storage, { id: job.body_id, bytes: job.body_bytes, position: 0 });
  const read = await scanBody(source, options, collection);
  return { ...read, bytes: job.body_bytes, id: job.body_id, isEarlier: true };
}

/** Keeps an earlier body until this job uses it. Throws 422 if its last job was removed meanwhile. */
async function holdBody(query: Query, bodyId: string): Promise<void> {
  const held = await query({
    text: 'select from system.jobs where body_id = $1 for key share',
    values: [bodyId],
  });
  if (held.length === 0) throw validationFailed({ upload: 'no import has this id' });
}
