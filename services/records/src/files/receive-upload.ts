import type { IncomingMessage } from 'node:http';
import { finished, Readable } from 'node:stream';
import { malformed, payloadTooLarge } from '@recordbus/errors';
import { collectBytes } from '@recordbus/http';
import {
  boundaryOf,
  createFormParser,
  type FormParser,
  type PartHandler,
  type PartHead,
  readPartText,
} from '@recordbus/http/form';
import { collectSpent, type SpentChunks } from './spent-chunks.ts';
import { createUploadParts, type Upload, type UploadTarget } from './upload-parts.ts';

/** A form's limits. */
export interface FormLimits {
  /** Largest body, in bytes. */
  readonly limitBytes: number;
  /** How many bytes all parts that are not files may have, names included (files §3.5). */
  readonly textBytes: number;
  readonly texts: number;
  readonly files: number;
}

const ofRecord = { textBytes: 1024 * 1024, texts: 1000, files: 100 };

/** One form's parts. */
export interface FormParts<T> {
  addText(name: string, text: string): void;
  /** Resolves when the file is stored. */
  addFile(name: string, stream: Readable, filename: string): Promise<void>;
  take(): T | Promise<T>;
}

/** Receives one record's form. Also throws 422 for a file that its field refuses. */
export const receiveUpload = (
  request: IncomingMessage,
  { limitBytes, ...target }: UploadTarget & { readonly limitBytes: number },
): Promise<Upload> => receiveForm(request, createUploadParts(target), { ...ofRecord, limitBytes });

/** A body arrives in chunks of 64 KiB. With less room than two, a file would pause the body at each one. */
const highWaterMark = 128 * 1024;

/**
 * Streams a multipart body into the storage, part by part, at the storage's pace. Throws 413 for a body or texts over
 * their limits, 400 for a malformed body, and its parts' errors.
 */
export async function receiveForm<T>(request: IncomingMessage, parts: FormParts<T>, limits: FormLimits): Promise<T> {
  const failure = Promise.withResolvers<never>();
  // The failure may come while nothing waits for it.
  failure.promise.catch(() => {});
  const stored: Promise<void>[] = [];
  const streams: Readable[] = [];
  const spent = collectSpent();
  const pace = { pause: () => {}, resume: () => {} };

  function openFile({ name, filename = '' }: PartHead): PieceTaker {
    if (streams.length === limits.files) throw malformed('the body has too many parts');
    const stream = new Readable({ highWaterMark, read: () => pace.resume() });
    // The reader handles errors itself. One that comes after it has stopped must not end the process.
    stream.on('error', () => {});
    streams.push(stream);
    const storing = parts.addFile(name, stream, filename);
    storing.catch(failure.reject);
    stored.push(storing);
    return {
      take(bytes) {
        if (!stream.push(bytes)) pace.pause();
      },
      end: () => stream.push(null),
    };
  }

  const openText = createTextParts(parts, limits);
  let part: PieceTaker | undefined;
  const parser = openParser(request, {
    begin(head) {
      part = head.isFile ? openFile(head) : openText(head);
    },
    data: (bytes) => part?.take(bytes),
    end: () => part?.end(),
  });
  try {
    await feed(request, parser, { limitBytes: limits.limitBytes, failed: failure.promise, spent, pace });
    await Promise.race([failure.promise, Promise.all(stored)]);
    const taken = await parts.take();
    // After a failure, the storage may still read them.
    spent.free();
    return taken;
  } catch (error) {
    for (const stream of streams) stream.destroy(new Error('the upload was aborted'));
    await Promise.allSettled(stored);
    throw error;
  }
}

/** Takes one part's pieces. */
interface PieceTaker {
  take(bytes: Buffer): void;
  end(): void;
}

/** Keeps a form's texts in memory, within their limits. */
function createTextParts(parts: Pick<FormParts<unknown>, 'addText'>, { texts, textBytes }: FormLimits) {
  let count = 0;
  let length = 0;
  const add = (bytes: number): void => {
    length += bytes;
    if (length > textBytes) throw payloadTooLarge(textBytes, "the form's texts");
  };
  return (head: PartHead): PieceTaker => {
    count += 1;
    if (count > texts) throw malformed('the body has too many parts');
    add(Buffer.byteLength(head.name));
    const collected = collectBytes();
    return {
      take(bytes) {
        add(bytes.length);
        collected.add(bytes);
      },
      end: () => parts.addText(head.name, readPartText(collected.take(), head)),
    };
  };
}

function openParser({ headers }: IncomingMessage, handler: PartHandler): FormParser {
  const boundary = boundaryOf(headers['content-type'] ?? '');
  if (boundary === undefined)
    throw malformed("the form's content type has no boundary, or one longer than 200 characters");
  return createFormParser(boundary, handler);
}

interface FeedOptions {
  readonly limitBytes: number;
  readonly failed: Promise<never>;
  /** Gets the chunks that were read. */
  readonly spent: SpentChunks;
  /** Gets the functions with which the form's files pause the body. */
  readonly pace: { pause: () => void; resume: () => void };
}

/** Writes the body to the parser, at the storage's pace. Resolves when the parser has read all of it. */
function feed(
  request: IncomingMessage,
  parser: FormParser,
  { limitBytes, failed, spent, pace }: FeedOptions,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let length = 0;
  const failing =
    <A extends readonly unknown[]>(work: (...args: A) => void) =>
    (...args: A): void => {
      try {
        work(...args);
      } catch (error) {
        fail(error);
      }
    };
  const onData = failing((chunk: Buffer): void => {
    length += chunk.length;
    spent.add(chunk);
    if (length > limitBytes) throw payloadTooLarge(limitBytes);
    parser.write(chunk);
  });
  const onEnd = failing((error?: Error | null): void => {
    if (error) throw malformed('the body is incomplete');
    parser.end();
    resolve();
  });
  const stopWatching = finished(request, { writable: false }, onEnd);
  function fail(error: unknown): void {
    stopWatching();
    pace.resume = () => {};
    request.off('data', onData).pause();
    reject(error);
  }
  pace.pause = () => request.pause();
  pace.resume = () => request.resume();
  failed.catch(fail);
  // A request whose idempotency key was claimed first is paused.
  request.on('data', onData).resume();
  return promise;
}
