import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { PassThrough, Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { createGzip } from 'node:zlib';
import {
  type ApiAddress,
  CommandFailure,
  noProgress,
  parseObject,
  reasonOf,
  sendRequest,
  whenFree,
} from '@recordbus/stack-calls';
import type { CommandParts } from '../run-command.ts';
import { standardStream } from '../standard-stream.ts';
import { createRecordCounter } from './count-records.ts';
import { fileFormatOf } from './file-format.ts';
import { findStack } from './find-stack.ts';
import type { ExportOptions } from './options.ts';
import { createProgress } from './progress.ts';

/** Writes an export to a file or to standard output. An export that breaks off leaves no file. */
export async function exportRecords(
  parts: CommandParts,
  collection: string,
  file: string,
  { url, key, json = false, format: given, raw, bom, ...parameters }: ExportOptions,
): Promise<undefined> {
  const { terminal } = parts;
  const isStandard = file === standardStream;
  const { format, isCompressed } = fileFormatOf(file, isStandard ? (given ?? 'csv') : given);
  const address = await findStack(parts, { url, key });
  const path = `/api/v1/records/${encodeURIComponent(collection)}`;
  const query = new URLSearchParams({ ...parameters, format, ...(raw && { raw: '1' }), ...(bom && { bom: '1' }) });
  const answer = await whenFree(
    () => sendRequest(address, { method: 'GET', path: `${path}/export?${query}` }),
    terminal,
  );
  const progress = json ? noProgress : createProgress({ output: process.stderr });
  const total = process.stderr.isTTY && !json ? await findTotal(address, path, parameters.filter) : undefined;
  const counter = createRecordCounter(format);
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      counter.add(chunk);
      progress.show(`${counter.count} records`, total === undefined ? undefined : counter.count / Math.max(total, 1));
      done(null, chunk);
    },
  });
  const source = answer.body ? Readable.fromWeb(answer.body as ReadableStream<Uint8Array>) : Readable.from([]);
  const compress = isCompressed ? createGzip() : new PassThrough();
  const write = (output: Writable, end: boolean) => pipeline(source, counting, compress, output, { end });
  try {
    if (isStandard) await write(process.stdout, false);
    else await writeCompletely(parts, file, (output) => write(output, true));
  } catch (error) {
    const lost = isStandard ? 'what was written is not complete' : `${file} was not written`;
    throw new CommandFailure(`The export broke off after ${counter.count} records, ${lost}: ${reasonOf(error)}.`);
  } finally {
    progress.end();
  }
  const { count: records } = counter;
  const text = `Exported ${records} records from ${collection}${isStandard ? '' : ` to ${file}`}.`;
  if (!isStandard) terminal.report({ collection, file, records }, text);
  else if (!json) terminal.note(text);
}

/** Writes a file under another name and renames it when it is complete. */
async function writeCompletely(
  { lifecycle }: Pick<CommandParts, 'lifecycle'>,
  file: string,
  write: (output: Writable) => Promise<void>,
): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  const drop = () => rm(draft, { force: true });
  lifecycle.onStop('draft', drop);
  try {
    await write(createWriteStream(draft, { flush: true }));
    await rename(draft, file);
  } finally {
    await drop();
  }
}

/** Returns how many records the export has, for the bar; undefined when it is not known. */
async function findTotal(address: ApiAddress, path: string, filter: string | undefined): Promise<number | undefined> {
  const query = new URLSearchParams({ perPage: '1', fields: 'id', ...(filter !== undefined && { filter }) });
  try {
    const answer = await sendRequest(address, { method: 'GET', path: `${path}?${query}` });
    const { totalItems } = parseObject(await answer.text()) ?? {};
    return typeof totalItems === 'number' ? totalItems : undefined;
  } catch {
    return undefined;
  }
}
