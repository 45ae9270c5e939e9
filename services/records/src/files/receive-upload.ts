import type { IncomingMessage } from 'node:http';
import { finished, type Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { malformed, payloadTooLarge } from '@recordbus/shared/errors';
import { collectSpent, type SpentChunks } from './spent-chunks.ts';
import { createUploadParts, type Upload, type UploadTarget } from './upload-parts.ts';

/** The limits of a form. */
export interface FormLimits {
  /** Largest body, in bytes. */
  readonly limitBytes: number;
  /** The maximum bytes of all parts that are not files, names included (files §3.5). */
  readonly textBytes: number;
  readonly texts: number;
  readonly files: number;
}

const ofRecord = { textBytes: 1024 * 1024, texts: 1000, files: 100 };

/** The parts of one form. */
export interface FormParts<T> {
  addText(name: string, text: string): void;
  /** Resolves when the file is stored. */
  addFile(name: string, stream: Readable, filename: string): Promise<void>;
  take(): T | Promise<T>;
}

/** Receives the form of one record. Also throws 422 for a file that its field refuses. */
export const receiveUpload = (
  request: IncomingMessage,
  { limitBytes, ...target }: UploadTarget & { readonly limitBytes: number },
): Promise<Upload> => receiveForm(request, createUploadParts(target), { ...ofRecord, limitBytes });

/**
 * Streams a multipart body into the storage, part by part, at the pace of the storage. Throws 413 for a body or texts
 * over their limits, 400 for a malformed body, and the errors of its parts.
 */
export async function receiveForm<T>(request: IncomingMessage, parts: FormParts<T>, limits: FormLimits): Promise<T> {
  const busboy = openParser(request, limits);
  const failure = Promise.withResolvers<never>();
  // The failure may come while nothing waits for it.
  failure.promise.catch(() => {});
  let textBytes = 0;
  const stored: Promise<void>[] = [];
  const streams: Readable[] = [];
  const spent = collectSpent();
  busboy.on('error', () => failure.reject(malformed('the body is not valid multipart/form-data')));
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
    busboy.on(limit, () => failure.reject(malformed('the body has too many parts')));
  // The parser calls back outside the request. What a handler throws there would end the process.
  const failing =
    <A extends readonly unknown[]>(handle: (...args: A) => void) =>
    (...args: A): void => {
      try {
        handle(...args);
      } catch (error) {
        failure.reject(error);
      }
    };
  const onField = (name: string | undefined, text: string, isNameCut: boolean, isTextCut: boolean): void => {
    const known = nameOf(name);
    textBytes += Buffer.byteLength(known) + Buffer.byteLength(text);
    if (isNameCut || isTextCut || textBytes > limits.textBytes)
      throw payloadTooLarge(limits.textBytes, 'the texts of the form');
    parts.addText(known, text);
  };
  const onFile = (name: string | undefined, stream: Readable, filename: string | undefined): void => {
    // The reader handles errors itself. One that comes after it has stopped must not end the process.
    stream.on('error', () => {});
    streams.push(stream);
    const storing = parts.addFile(nameOf(name), stream, filename ?? '');
    storing.catch(failure.reject);
    stored.push(storing);
  };
  busboy.on('field', failing(onField));
  busboy.on('file', failing(onFile));
  try {
    await feed(request, busboy, { limitBytes: limits.limitBytes, failed: failure.promise, spent });
    // The parser emits `finish` even after an error at the end of a body, so the failure comes first.
    await Promise.race([failure.promise, Promise.all(stored)]);
    const taken = await parts.take();
    // After a failure, the storage may still read them.
    spent.free();
    return taken;
  } catch (error) {
    busboy.destroy();
    for (const stream of streams) stream.destroy(new Error('the upload was aborted'));
    await Promise.allSettled(stored);
    throw error;
  }
}

/** The parser passes no name for a part whose disposition has none, although its types say otherwise. */
function nameOf(name: string | undefined): string {
  if (name === undefined) throw malformed('a part of the form has no name: write form-data; name="…"');
  return name;
}

/** A body arrives in chunks of 64 KiB. With less room than two, the parser would pause the body at each one. */
const highWaterMark = 128 * 1024;
const maxNameBytes = 255;
const maxHeaders = 50;

function openParser(request: IncomingMessage, { textBytes, texts, files }: FormLimits): BusboyInstance {
  const type = request.headers['content-type'] ?? '';
  try {
    const limits = {
      fieldNameSize: maxNameBytes,
      fieldSize: textBytes,
      fields: texts,
      files,
      parts: texts + files,
      headerPairs: maxHeaders,
    };
    const headers: BusboyHeaders = { 'content-type': type };
    return new Busboy({ headers, limits, highWaterMark, fileHwm: highWaterMark });
  } catch {
    throw malformed('the body is not valid multipart/form-data');
  }
}

interface FeedOptions {
  readonly limitBytes: number;
  readonly failed: Promise<never>;
  /** Gets the chunks that were read. */
  readonly spent: SpentChunks;
}

/** Writes the body to the parser, at the pace of the storage. Resolves when the parser has read all of it. */
function feed(
  request: IncomingMessage,
  busboy: BusboyInstance,
  { limitBytes, failed, spent }: FeedOptions,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let length = 0;
  const resume = () => request.resume();
  function parse(chunk: Buffer): void {
    length += chunk.length;
    spent.add(chunk);
    if (length > limitBytes) throw payloadTooLarge(limitBytes);
    if (busboy.write(chunk)) return;
    request.pause();
    busboy.once('drain', resume);
  }
  const onData = (chunk: Buffer): void => {
    try {
      parse(chunk);
    } catch (error) {
      fail(error);
    }
  };
  const stopWatching = finished(request, { writable: false }, (error) => {
    if (error) fail(malformed('the body is incomplete'));
    else busboy.end();
  });
  function fail(error: unknown): void {
    stopWatching();
    request.off('data', onData).pause();
    busboy.off('drain', resume);
    reject(error);
  }
  busboy.once('finish', resolve);
  failed.catch(fail);
  // A request whose idempotency key was claimed first is paused.
  request.on('data', onData).resume();
  return promise;
}
