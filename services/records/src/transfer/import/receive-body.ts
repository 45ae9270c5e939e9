import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { malformed, payloadTooLarge, validationFailed } from '@recordbus/errors';
import { startSlice } from '@recordbus/limits/time-slice';
import type { Collection } from '@recordbus/schema';
import type { Storage } from '@recordbus/storage';
import type { AnnouncedFiles } from '../../files/announced-files.ts';
import { type Format, formats } from '../formats/source-row.ts';
import { type BodyEncoding, toUtf8 } from '../formats/to-utf8.ts';
import { refuseUnknownColumns } from './columns.ts';
import type { RequestedOptions } from './import-options.ts';
import { bodiesOf, bodyKey, bodyName } from './job-body.ts';
import { openRows } from './open-rows.ts';

/** An import's received body. */
export interface ReceivedBody {
  /** Its size in UTF-8. */
  readonly bytes: number;
  readonly rows: number;
  readonly columns: readonly string[];
  readonly separator: string;
  /** The first row's position. */
  readonly start: number;
}

interface ReceiveDeps {
  readonly storage: Storage;
  readonly maxBytes: number;
}

interface Incoming {
  readonly id: string;
  readonly stream: IncomingMessage;
  readonly encoding: BodyEncoding;
}

/**
 * Streams a body into the store, in UTF-8, at the store's pace, and checks it at the same time: a broken body is
 * refused before any row is imported.
 */
export async function receiveBody(
  { storage, maxBytes }: ReceiveDeps,
  { id, stream, encoding }: Incoming,
  { options, collection }: { readonly options: RequestedOptions; readonly collection: Collection },
  announced: AnnouncedFiles,
): Promise<ReceivedBody> {
  await announced.announce({ collectionId: bodiesOf, recordId: id, name: bodyName });
  const copy = new PassThrough();
  const scanning = scanBody(copy, options, collection);
  // The check may reject while the next piece is being written.
  scanning.catch(() => {});
  const state = { bytes: 0 };

  async function* pieces(): AsyncGenerator<Buffer> {
    for await (const piece of toUtf8(limited(stream, maxBytes), encoding)) {
      state.bytes += piece.length;
      if (!copy.write(piece)) await Promise.race([once(copy, 'drain'), scanning]);
      yield piece;
    }
    copy.end();
    await scanning;
  }

  try {
    await storage.put(bodyKey(id), Readable.from(pieces(), { objectMode: false }));
    return { ...(await scanning), bytes: state.bytes };
  } finally {
    copy.destroy();
  }
}

/** Reads a body to its end, and checks its beginning and its columns. */
export async function scanBody(
  source: AsyncIterable<Buffer>,
  options: RequestedOptions,
  collection: Collection,
): Promise<Omit<ReceivedBody, 'bytes'>> {
  const { columns, separator, start, rows } = await openRows(checked(source, options.format), options);
  refuseUnknownColumns(columns, options, collection);
  let count = 0;
  const slice = startSlice();
  for await (const { members, problem } of rows) {
    if (count === 0 && options.format !== 'csv' && problem === undefined)
      refuseUnknownColumns(Object.keys(members), options, collection);
    count += 1;
    if (slice.isOver()) await slice.pause();
  }
  return { columns, separator, start, rows: count };
}

async function* limited(stream: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw payloadTooLarge(maxBytes);
      yield chunk;
    }
  } catch (error) {
    if (stream.errored) throw malformed('the body ended before it was whole');
    throw error;
  }
}

/** Passes a body through. Throws if it begins like another format. */
async function* checked(source: AsyncIterable<Buffer>, format: Format): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const piece of source) {
    if (isFirst) refuseOtherFormat(piece, format);
    isFirst = false;
    yield piece;
  }
}

/** How a body in each format begins. */
const beginnings: Readonly<Record<Format, RegExp>> = {
  csv: /^\s*[^\s[{]/,
  ndjson: /^\s*\{/,
  json: /^\s*\[/,
};

/** Longer white space is left to the readers. */
const maxBlank = 1000;

/** Throws 422 for a body that begins like another format. */
function refuseOtherFormat(piece: Buffer, format: Format): void {
  const text = piece.subarray(0, maxBlank).toString();
  if (text.trim() === '' || beginnings[format].test(text)) return;
  const first = text.trim().slice(0, 1);
  const likely = formats.find((other) => other !== 'csv' && beginnings[other].test(text));
  const hint = likely ? `, like ${likely === 'json' ? 'JSON' : 'lines of JSON (ndjson)'}` : '';
  throw validationFailed({ format: `is ${format}, but the body begins with ${first}${hint}` });
}
