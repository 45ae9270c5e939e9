import { inSlices } from '@recordbus/limits/time-slice';
import type { Collection, FieldEncryption } from '@recordbus/schema';
import { decryptAnswer } from '../shape/decrypt-answer.ts';
import type { OperationResult } from './results.ts';

/** A row that a statement with several operations answers. */
export interface SeveralRow {
  readonly id: string;
  readonly body: string;
  readonly version: string;
}

interface Options {
  readonly status: 200 | 201;
  readonly encryption: FieldEncryption;
}

/** The results in id order. */
export async function resultsOf(
  collection: Collection,
  ids: readonly string[],
  rows: readonly SeveralRow[],
  { status, encryption }: Options,
): Promise<OperationResult[]> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const results: OperationResult[] = [];
  for await (const id of inSlices(ids)) {
    const row = byId.get(id);
    if (!row) throw new Error('the statement for several operations wrote another record');
    const body = await decryptAnswer(encryption, { collection, expansions: undefined }, row.body);
    results.push({ status, body, version: row.version });
  }
  return results;
}
