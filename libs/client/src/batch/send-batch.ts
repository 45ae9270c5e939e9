import { formOf, jsonText, type Part } from '../body.ts';
import { RecordbusError, unexpectedAnswer } from '../error.ts';
import type { WriteOptions } from '../records/options.ts';
import { tagOfUnchanged } from '../records/write.ts';
import type { Call, Transport } from '../transport.ts';
import { apiPath } from '../url.ts';
import { remember } from '../versions.ts';
import { type Collected, collector } from './collect.ts';

/** One operation's result. */
interface Result {
  readonly data: object | null;
  readonly etag: string | null;
}

/**
 * Sends the operations that `build` collects. Returns what `build` returns, with each operation replaced by its result.
 * All are done, or none.
 */
export async function sendBatch(
  transport: Transport,
  build: (batch: { from: ReturnType<typeof collector>['from'] }) => unknown,
  { query, signal, onProgress, idempotencyKey }: WriteOptions = {},
): Promise<unknown> {
  const { operations, from, indexOf } = collector();
  const shape = build({ from });
  const call: Call = { method: 'POST', path: apiPath('batch'), query, signal, onProgress, key: idempotencyKey ?? true };
  const results = await sendUnchanged(transport, operations, call);
  const records = results.map(({ data, etag }) => remember(data, etag));
  const fill = (value: unknown): unknown => {
    const index = indexOf(value);
    if (index !== undefined) return records[index];
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member)]));
  };
  return fill(shape);
}

/** Sends the operations. Sends them again if the client knew only a version's second. */
async function sendUnchanged(transport: Transport, operations: readonly Collected[], call: Call): Promise<Result[]> {
  const tags = operations.map(({ expected }) => expected.tag);
  const tried = new Set<number>();
  for (;;) {
    try {
      const results = await transport.data<Result[]>({ ...call, ...bodyOf(operations, tags) });
      if (!Array.isArray(results) || results.length !== operations.length) throw unexpectedAnswer();
      return results;
    } catch (error) {
      const { index } = error instanceof RecordbusError ? error.details : {};
      const operation = operations[Number(index)];
      if (!operation?.subject || tried.has(Number(index))) throw error;
      tried.add(Number(index));
      const { subject, expected, json } = operation;
      const tag = await tagOfUnchanged(transport, String(json.collection), subject, error, expected, call);
      if (tag === undefined) throw error;
      tags[Number(index)] = tag;
    }
  }
}

/** The operations as JSON, or as a form with files named `<index>.<field>` (batch §1.5). */
function bodyOf(operations: readonly Collected[], tags: readonly (string | undefined)[]): Partial<Call> {
  const files: Part[] = [];
  const jsons = operations.map(({ json, values }, index) => ({
    ...json,
    ...(tags[index] !== undefined && { if_match: tags[index] }),
    ...(json.op !== 'delete' && { data: withoutFiles(values, index, files) }),
  }));
  if (files.length === 0) return { values: { operations: jsons } };
  return { body: formOf([['operations', jsonText(jsons)], ...files]) };
}

function withoutFiles(values: Collected['values'], index: number, files: Part[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const items: readonly unknown[] = Array.isArray(value) ? value : [value];
      const found = items.filter((item) => item instanceof Blob);
      if (found.length === 0) return [[name, value]];
      files.push(...found.map((file): Part => [`${index}.${name}`, file]));
      const kept = items.filter((item) => !(item instanceof Blob));
      return kept.length > 0 ? [[name, kept]] : [];
    }),
  );
}
