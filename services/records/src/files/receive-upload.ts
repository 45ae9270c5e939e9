import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import { malformed, payloadTooLarge } from '@recordbus/shared/errors';
import { renewAnnounced } from './announced-files.ts';
import { createUploadParts, type Upload, type UploadTarget } from './upload-parts.ts';

const maxTextBytes = 1024 * 1024;
const limits = { fieldNameSize: 255, fieldSize: maxTextBytes, fields: 1000, files: 100, parts: 1100, headerPairs: 50 };

/** How often a long upload says that it goes on, in milliseconds. */
const renewalMs = 60_000;

/**
 * Reads a multipart body part by part into the storage, at its pace, whatever its size. Throws 413 for one over the
 * limit, 400 for one that can't be read, 422 for a file that its field refuses; `announced` has then what was begun.
 */
export async function receiveUpload(
  request: IncomingMessage,
  target: UploadTarget & { readonly limitBytes: number },
  announced: number[],
): Promise<Upload> {
  const parts = createUploadParts(target, announced);
  const busboy = openParser(request);
  const failure = Promise.withResolvers<never>();
  // Whoever waits for it learns of it; nobody may be waiting just then.
  failure.promise.catch(() => {});
  const stored: Promise<void>[] = [];
  const streams: Readable[] = [];
  const renewal = setInterval(() => renewAnnounced(target.query, announced).catch(() => {}), renewalMs);
  busboy.on('error', () => failure.reject(malformed('the body is not valid multipart/form-data')));
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
    busboy.on(limit, () => failure.reject(malformed('the body has too many parts')));
  busboy.on('field', (name, text, isNameCut, isTextCut) => {
    if (isNameCut || isTextCut) failure.reject(payloadTooLarge(maxTextBytes));
    else parts.addText(name, text);
  });
  busboy.on('file', (name, stream, filename) => {
    // Its reader hears of an error by itself; one that comes after it has stopped must not end the process.
    stream.on('error', () => {});
    streams.push(stream);
    const storing = parts.addFile(name, stream, filename ?? '');
    storing.catch(failure.reject);
    stored.push(storing);
  });
  try {
    await feed(request, busboy, target.limitBytes, failure.promise);
    await Promise.race([Promise.all(stored), failure.promise]);
    return parts.take();
  } catch (error) {
    busboy.destroy();
    for (const stream of streams) stream.destroy(new Error('the upload was given up'));
    await Promise.allSettled(stored);
    throw error;
  } finally {
    clearInterval(renewal);
  }
}

function openParser(request: IncomingMessage): BusboyInstance {
  const type = request.headers['content-type'] ?? '';
  try {
    return new Busboy({ headers: { ...request.headers, 'content-type': type } as BusboyHeaders, limits });
  } catch {
    throw malformed('the body is not valid multipart/form-data');
  }
}

/** Hands the body to the parser, which takes no more than the storage does. */
async function feed(
  request: IncomingMessage,
  busboy: BusboyInstance,
  limitBytes: number,
  failed: Promise<never>,
): Promise<void> {
  const finished = once(busboy, 'finish');
  finished.catch(() => {});
  let length = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      length += chunk.length;
      if (length > limitBytes) throw payloadTooLarge(limitBytes);
      if (!busboy.write(chunk)) await Promise.race([once(busboy, 'drain'), failed]);
    }
  } catch (error) {
    if (request.errored) throw malformed('the body ended before it was whole');
    throw error;
  }
  busboy.end();
  await Promise.race([finished, failed]);
}
