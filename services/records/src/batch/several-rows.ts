import { inSlices } from '@recordbus/limits/time-slice';
import type { Collection, FieldEncryption } from '@recordbus/schema';
import { decryptAnswer } from '../shape/decrypt-answer.ts';
import type { OperationResult } from './results.ts';

/** A row of the answer of a statement of several operations. */
export interface SeveralRow {
  readonly id: string;
  readonly body: string;
  readonly version: string;
}

interface Options {
  readonly status: 200 | 201;
  readonly encryption: FieldEncryption;
}

/** The results in the order of the ids. */
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
