import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { newId, type Query } from '@recordbus/database';
import { malformed, payloadTooLarge } from '@recordbus/errors';
import type { Principal } from '@recordbus/request/context';
import { guarded } from '@recordbus/request/request-scope';
import type { Storage } from '@recordbus/storage';
import type { AnnouncedFiles } from '../files/announced-files.ts';
import { awaitRemoval } from '../files/pending-removal.ts';
import type { FormParts } from '../files/receive-upload.ts';
import type { Removals } from '../files/removals.ts';
import { createUploadParts, type UploadParts } from '../files/upload-parts.ts';
import { readNewId } from '../record/record-id.ts';
import type { ServedCollections } from '../record/served-collections.ts';
import { operationRefused, throwAt } from './batch-refusal.ts';
import type { Operation } from './operation.ts';
import { requestOf, type Uploads } from './plan-batch.ts';

/** What a batch's form depends on. */
export interface BatchPartsDeps {
  readonly query: Query;
  readonly storage: Storage;
  readonly removals: Pick<Removals, 'wake'>;
  readonly collections: Pick<ServedCollections, 'admit'>;
  readonly principal: Principal;
  /** Reads the part with the operations. */
  readonly read: (bytes: Uint8Array) => Promise<readonly Operation[]>;
  /** How many bytes that part may have. */
  readonly limitBytes: number;
}

/** A form's operations and their files. */
export interface BatchForm {
  readonly operations: readonly Operation[];
  readonly uploads: Uploads;
}

/** The part with the operations. */
const operationsPart = 'operations';

/** `<index>.<field>`. */
const filePart = /^(\d{1,6})\.([^.]+)$/;

/**
 * Creates a collector for a batch's parts: the operations in JSON, and then files. Throws 400 for other parts, and 422
 * with the index for a file without an operation that takes it.
 */
export function createBatchParts(deps: BatchPartsDeps, announced: AnnouncedFiles): FormParts<BatchForm> {
  let reading: Promise<readonly Operation[]> | undefined;
  const records = new Map<number, Promise<UploadParts>>();

  function begin(read: () => Promise<readonly Operation[]>): void {
    if (reading) throw malformed(`the form has the part ${operationsPart} twice`);
    reading = read();
    // `take`'s caller, and each file, gets the refusal.
    reading.catch(() => {});
  }

  async function readStream(stream: Readable): Promise<readonly Operation[]> {
    let length = 0;
    const count = guarded((chunk: Buffer) => {
      length += chunk.length;
      if (length > deps.limitBytes) stream.destroy(payloadTooLarge(deps.limitBytes, `the part ${operationsPart}`));
    });
    stream.on('data', count);
    return deps.read(await buffer(stream));
  }

  async function addFile(name: string, stream: Readable, filename: string): Promise<void> {
    const [, digits, field = ''] = filePart.exec(name) ?? [];
    if (digits === undefined) throw malformed(`a file part must be called <index>.<field>`);
    if (!reading) throw malformed(`the part ${operationsPart} must come before the files`);
    const index = Number(digits);
    const operations = await reading;
    const operation = operations[index];
    if (!operation) throw operationRefused(index, { [field]: 'is a file without its operation' });
    try {
      const record = records.get(index) ?? openRecord(operation, field, index);
      records.set(index, record);
      await (await record).addFile(field, stream, filename);
    } catch (error) {
      throwAt(index, error);
    }
  }

  /** Opens an operation's upload. */
  async function openRecord(operation: Operation, field: string, index: number): Promise<UploadParts> {
    const { op, id } = operation;
    if (op === 'delete') throw operationRefused(index, { [field]: 'is a file for a delete' });
    if (typeof id === 'object' || (op === 'upsert' && id === undefined))
      throw operationRefused(index, { [field]: 'is a file for an operation that does not name its record by id' });
    const { query, storage, collections, removals } = deps;
    const collection = await collections.admit(requestOf(operation, deps.principal));
    const recordId = op === 'update' ? String(id) : id === undefined ? newId() : readNewId(id);
    const removal = id === undefined ? {} : { awaitRemoval: () => awaitRemoval(query, removals, collection, recordId) };
    return createUploadParts({ storage, collection, recordId, announced, ...removal });
  }

  return {
    addText(name, text) {
      if (name !== operationsPart) throw malformed(`the form takes no text but ${operationsPart}`);
      begin(() => deps.read(Buffer.from(text)));
    },
    async addFile(name, stream, filename) {
      if (name !== operationsPart) return addFile(name, stream, filename);
      begin(() => readStream(stream));
      await reading;
    },
    async take() {
      const operations = await reading;
      if (!operations) throw malformed(`the form lacks the part ${operationsPart}`);
      const uploads = new Map<number, ReturnType<UploadParts['take']>>();
      for (const [index, record] of records) {
        const upload = (await record).take();
        // Its file fields' values name the files that an update keeps.
        uploads.set(index, { ...upload, body: operations[index]?.data ?? {} });
      }
      return { operations, uploads };
    },
  };
}
