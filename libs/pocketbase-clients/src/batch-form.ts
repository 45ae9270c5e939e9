import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { collectBytes } from '@recordbus/http';
import { boundaryOf, createFormParser, type PartHead, readPartText } from '@recordbus/http/form';
import { type ClientRequest, parseJson } from './exchange.ts';
import { holdBytes } from './held-bytes.ts';
import type { JsonObject } from './product.ts';
import { fileHead, textPart } from './records/form.ts';
import { badRequest } from './refusal.ts';

/** A batch file: `requests.0.photo`, or `requests.0.photo+`. */
export interface BatchFile {
  readonly index: number;
  readonly field: string;
  /** Whether it is added to the files that the record has. */
  readonly isAdded: boolean;
  readonly filename: string;
  readonly bytes: Buffer;
}

/** A batch's form: the requests in JSON, and their files. */
export interface BatchForm {
  readonly body: JsonObject;
  readonly files: readonly BatchFile[];
}

const filePart = /^requests(?:\.|\[)(\d{1,4})\]?\.(.+)$/;

/**
 * Reads a batch's form into memory: PocketBase's clients send the files before the requests that they belong to, and our
 * batches take them after.
 */
export async function readBatchForm({ contentType, body }: ClientRequest, limitBytes: number): Promise<BatchForm> {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) throw badRequest();
  using held = holdBytes(limitBytes);
  let requests: JsonObject = {};
  const files: BatchFile[] = [];
  let head: PartHead | undefined;
  let collected = collectBytes();
  const parser = createFormParser(boundary, {
    begin(next) {
      head = next;
      collected = collectBytes();
    },
    // The bytes share the memory of a chunk that the reader uses again.
    data: (bytes) => collected.add(Buffer.from(bytes)),
    end() {
      if (!head) return;
      const bytes = collected.take();
      if (head.name === '@jsonPayload')
        requests = { ...requests, ...parseJson(Buffer.from(readPartText(bytes, head))) };
      const [, index, name = ''] = filePart.exec(head.name) ?? [];
      if (index === undefined || head.filename === undefined) return;
      const field = name.replace(/^\+|[+-]$/g, '');
      files.push({ index: Number(index), field, isAdded: field !== name, filename: head.filename, bytes });
    },
  });
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    held.count(chunk.length);
    parser.write(chunk);
  }
  parser.end();
  return { body: requests, files };
}

/** Writes the form that our batches take. */
export function writeBatchForm(operations: readonly JsonObject[], files: readonly BatchFile[]) {
  const boundary = `recordbus-${randomUUID()}`;
  const pieces: Buffer[] = [Buffer.from(textPart(boundary, 'operations', JSON.stringify(operations)))];
  for (const { index, field, filename, bytes } of files)
    pieces.push(Buffer.from(fileHead(boundary, `${index}.${field}`, filename)), bytes, Buffer.from('\r\n'));
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, parts: Readable.from(pieces) };
}
