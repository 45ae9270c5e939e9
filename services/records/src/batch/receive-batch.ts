import type { IncomingMessage } from 'node:http';
import type { Principal } from '@recordbus/request/context';
import type { AnnouncedFiles } from '../files/announced-files.ts';
import type { UploadDeps } from '../files/receive-record-form.ts';
import { receiveForm } from '../files/receive-upload.ts';
import type { ServedCollections } from '../record/served-collections.ts';
import { type BatchForm, createBatchParts } from './batch-parts.ts';
import type { Operation } from './operation.ts';
import { type ParsedOperation, parseOperationList } from './parse-operations.ts';

/** How large a batch's JSON may be. */
export const maxBatchBytes = 16 * 1024 * 1024;

/** How many files a batch may have. */
const maxFiles = 1000;

interface ReceiveDeps extends UploadDeps {
  readonly collections: Pick<ServedCollections, 'admit'>;
  maxBatchOperations(): number;
}

interface Received {
  readonly request: IncomingMessage;
  readonly principal: Principal;
  /** Checks the operations before files are stored. */
  readonly admit: (values: readonly ParsedOperation[]) => Promise<readonly Operation[]>;
}

/** Receives a batch's form, and stores its files. */
export function receiveBatch(
  { database: { query }, storage, removals, maxUploadBytes, collections, maxBatchOperations }: ReceiveDeps,
  { request, principal, admit }: Received,
  announced: AnnouncedFiles,
): Promise<BatchForm> {
  const read = async (bytes: Uint8Array) => admit(await parseOperationList(bytes, maxBatchOperations()));
  const parts = createBatchParts(
    { query, storage, removals, collections, principal, read, limitBytes: maxBatchBytes },
    announced,
  );
  const limits = { limitBytes: maxUploadBytes, textBytes: maxBatchBytes, texts: 1, files: maxFiles };
  return receiveForm(request, parts, limits);
}
