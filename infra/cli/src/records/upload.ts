import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { createGunzip } from 'node:zlib';
import { AppError } from '@recordbus/errors';
import {
  type ApiAddress,
  CommandFailure,
  type ImportJob,
  type Progress,
  parseObject,
  sendRequest,
} from '@recordbus/stack-calls';
import { standardStream } from '../standard-stream.ts';
import { contentTypes } from './file-format.ts';

/** An import: its file and options. */
export interface ImportSource {
  readonly file: string;
  readonly isCompressed: boolean;
  readonly collection: string;
  readonly parameters: Readonly<Record<string, string>>;
}

interface UploadOptions {
  /** The idempotency key. */
  readonly key: string;
  readonly progress: Progress;
}

/** Uploads a file, or standard input, as an import's body. Returns its job id. */
export async function upload(
  address: ApiAddress,
  { file, isCompressed, collection, parameters }: ImportSource,
  { key, progress }: UploadOptions,
): Promise<string> {
  const isStandard = file === standardStream;
  const total = isStandard ? undefined : (await stat(file)).size;
  let sent = 0;
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sent += chunk.length;
      progress.show(`uploading, ${(sent / 2 ** 20).toFixed(1)} MiB`, total === undefined ? undefined : sent / total);
      done(null, chunk);
    },
  });
  const steps = [isStandard ? process.stdin : createReadStream(file), counting];
  const body = isCompressed ? createGunzip() : counting;
  // An error here also fails the request.
  const reading = isCompressed ? pipeline([...steps, body]) : pipeline(steps);
  const failure = reading.then(
    () => undefined,
    (error: unknown) => error,
  );
  const path = `/api/v1/records/${encodeURIComponent(collection)}/import?${new URLSearchParams(parameters)}`;
  const headers = { 'content-type': contentTypes[parameters.format ?? ''] ?? '', 'idempotency-key': key };
  try {
    const stream = Readable.toWeb(body) as ReadableStream<Uint8Array>;
    const answer = await sendRequest(address, { method: 'POST', path, headers, body: stream });
    const { data } = parseObject(await answer.text()) ?? {};
    return (data as ImportJob).id;
  } catch (error) {
    if (error instanceof AppError) throw error;
    body.destroy();
    const cause = await failure;
    if (cause instanceof Error && 'code' in cause && /^(E[A-Z]+|Z_[A-Z_]+)$/.test(String(cause.code)))
      throw new CommandFailure(`${file} cannot be read: ${cause.message}.`);
    throw error;
  }
}
