import { etagOf } from '../record/etag.ts';
import { operationRefused } from './batch-refusal.ts';
import type { Reference } from './reference.ts';

/** What an operation that was done has as its result. */
export interface OperationResult {
  readonly status: 200 | 201;
  /** The single write's body, `{"data": …}`; undefined for a delete. */
  readonly body: string | undefined;
  /** The version after the write; undefined for a delete. */
  readonly version: string | undefined;
}

const envelopeStart = '{"data":'.length;

/** A reference's value. */
export interface SizedValue {
  readonly value: unknown;
  /** Size of its JSON text. */
  readonly bytes: number;
}

/** The batch's results so far, by index. */
export interface Results {
  readonly count: number;
  /** UTF-16 code units in the bodies so far. */
  readonly units: number;
  add(result: OperationResult): void;
  /** The value that an operation refers to. Throws 422 when the result has no such member. */
  valueOf(reference: Reference, used: number, from: { readonly index: number; readonly member: string }): SizedValue;
  /** The answer's body. */
  toJson(): string;
}

/** Collects results. */
export function createResults(): Results {
  const results: OperationResult[] = [];
  const parsed = new Map<number, unknown>();
  const sizes = new Map<string, number>();
  let units = 0;

  function recordOf(used: number): unknown {
    if (!parsed.has(used)) parsed.set(used, JSON.parse(results[used]?.body ?? '{}').data);
    return parsed.get(used);
  }

  function sizeOf(text: string, value: unknown): number {
    const known = sizes.get(text);
    if (known !== undefined) return known;
    const bytes = Buffer.byteLength(JSON.stringify(value));
    sizes.set(text, bytes);
    return bytes;
  }

  return {
    get count() {
      return results.length;
    },
    get units() {
      return units;
    },
    add(result) {
      results.push(result);
      units += result.body?.length ?? 0;
    },
    valueOf({ path, text }, used, { index, member }) {
      let value = recordOf(used);
      for (const name of path) {
        if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
          throw operationRefused(index, { [member]: `refers to ${text}, which the result lacks` });
        value = Reflect.get(value, name);
      }
      return { value, bytes: sizeOf(text, value) };
    },
    toJson: () => `{"data":[${results.map(textOf).join(',')}]}`,
  };
}

const textOf = ({ status, body, version }: OperationResult): string => {
  const data = body === undefined ? 'null' : body.slice(envelopeStart, -1);
  const etag = version === undefined ? 'null' : JSON.stringify(etagOf(version));
  return `{"status":${status},"data":${data},"etag":${etag}}`;
};
