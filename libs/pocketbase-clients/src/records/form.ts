import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { collectBytes } from '@recordbus/http';
import { boundaryOf, createFormParser, type PartHead, readPartText } from '@recordbus/http/form';
import { maxBodyBytes, parseJson } from '../exchange.ts';
import type { CallProduct, JsonObject, ProductAnswer, ProductCall } from '../product.ts';
import { badRequest, Refusal } from '../refusal.ts';

/** Translates a form while it arrives. */
export interface FormTranslation {
  /** Returns the request to send, with the texts that come before the first file. */
  request(texts: FormTexts): Pick<ProductCall, 'method' | 'path' | 'headers'>;
  /** Returns the name of the file's part in our form; undefined drops the file. */
  nameFile(part: string): string | undefined;
  /** Returns the members that are not files, which come after the last file. */
  finish(texts: FormTexts): JsonObject;
}

/** The form's members that are not files, so far. */
export type FormTexts = Record<string, unknown>;

/** PocketBase's clients send what is not a file in this part. It may come several times. */
const jsonPart = '@jsonPayload';

/**
 * Sends a form on while it arrives. Ends early when the product answers early, for example because a file is too large.
 * Throws what the translation refuses.
 */
export async function forwardForm(
  call: CallProduct,
  source: { readonly contentType: string; readonly body: Readable },
  translation: FormTranslation,
): Promise<ProductAnswer> {
  const boundary = boundaryOf(source.contentType);
  if (boundary === undefined) throw badRequest();
  const ours = `recordbus-${randomUUID()}`;
  const parts = new PassThrough();
  const answered = new AbortController();
  const answer = Promise.withResolvers<ProductAnswer>();
  const contentType = `multipart/form-data; boundary=${ours}`;
  const begin = (texts: FormTexts) => {
    const sent = call({ ...translation.request(texts), form: { contentType, parts } });
    sent.finally(() => answered.abort()).then(answer.resolve, answer.reject);
    // A preamble sends the head, which may be refused, although the first file may be dropped.
    parts.write('\r\n');
  };
  const pumped = pump(
    source.body,
    parts,
    ours,
    createFormReader(boundary, ours, parts, { begin, translation }),
    answered.signal,
  );
  // When the product has answered, nothing waits for the rest of the form.
  pumped.catch(() => {});
  try {
    await Promise.race([pumped, answer.promise]);
    return await answer.promise;
  } catch (error) {
    // The refusal of the form is the cause; the broken call follows from it.
    answer.promise.catch(() => {});
    parts.destroy();
    throw error;
  }
}

async function pump(
  body: Readable,
  parts: PassThrough,
  boundary: string,
  reader: ReturnType<typeof createFormReader>,
  signal: AbortSignal,
): Promise<void> {
  // Not `for await`, which would destroy the request when it ends early.
  const chunks = body.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    if (signal.aborted) return;
    reader.write(chunk);
    if (parts.writableNeedDrain) await once(parts, 'drain', { signal }).catch(() => undefined);
  }
  if (signal.aborted) return;
  reader.end();
  parts.end(`--${boundary}--\r\n`);
}

interface FormReaderOptions {
  /** Sends the request; called once, at the first file or at the end. */
  readonly begin: (texts: FormTexts) => void;
  readonly translation: FormTranslation;
}

function createFormReader(
  boundary: string,
  ours: string,
  parts: PassThrough,
  { begin, translation }: FormReaderOptions,
) {
  let hasBegun = false;
  const beginOnce = () => {
    if (!hasBegun) begin(texts);
    hasBegun = true;
  };
  const texts: FormTexts = {};
  let head: PartHead | undefined;
  let isDropped = false;
  let collected = collectBytes();
  let textBytes = 0;
  const isFile = ({ isFile, filename }: PartHead) => isFile && filename !== undefined;
  const parser = createFormParser(boundary, {
    begin(next) {
      head = next;
      collected = collectBytes();
      if (!isFile(next)) return;
      const named = translation.nameFile(next.name);
      isDropped = named === undefined;
      beginOnce();
      if (named !== undefined) parts.write(fileHead(ours, named, next.filename ?? ''));
    },
    data(bytes) {
      if (!head) return;
      if (isFile(head)) {
        // The bytes share the memory of a chunk that the reader uses again.
        if (!isDropped) parts.write(Buffer.from(bytes));
        return;
      }
      textBytes += bytes.length;
      if (textBytes > maxBodyBytes) throw new Refusal(413, 'Request entity too large.');
      collected.add(Buffer.from(bytes));
    },
    end() {
      if (!head) return;
      if (isFile(head)) {
        if (!isDropped) parts.write('\r\n');
      } else addText(texts, head.name, readPartText(collected.take(), head));
    },
  });
  return {
    write: (chunk: Buffer) => parser.write(chunk),
    end() {
      parser.end();
      beginOnce();
      parts.write(textPart(ours, '_json', JSON.stringify(translation.finish(texts))));
    },
  };
}

function addText(texts: FormTexts, name: string, text: string): void {
  if (name === jsonPart) {
    const members: JsonObject = parseJson(Buffer.from(text));
    for (const [member, value] of Object.entries(members)) texts[member] = value;
    return;
  }
  const before = Object.hasOwn(texts, name) ? texts[name] : undefined;
  texts[name] = before === undefined ? text : Array.isArray(before) ? [...before, text] : [before, text];
}

const quoted = (text: string): string => `"${text.replace(/[\r\n\0]/g, ' ').replace(/["\\]/g, '\\$&')}"`;

/** A text's part of a form. */
export const textPart = (boundary: string, name: string, text: string): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name=${quoted(name)}\r\n\r\n${text}\r\n`;

/** What comes before a file's bytes in a form. A line break comes after them. */
export const fileHead = (boundary: string, name: string, filename: string): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name=${quoted(name)}; filename=${quoted(filename)}\r\nContent-Type: application/octet-stream\r\n\r\n`;
