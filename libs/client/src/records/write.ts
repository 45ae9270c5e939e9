import { invalidArgument, unexpectedAnswer } from '../error.ts';
import type { Call, CallOptions, Transport } from '../transport.ts';
import { apiPath, mergeQueries } from '../url.ts';
import { type Expected, expectedOf, isSameSecond, isUnchanged, remember } from '../versions.ts';
import type { Subject, UpsertTarget } from './collection.ts';
import type { ChangeOptions, RestorePoint, WriteOptions } from './options.ts';

/** The id of a record or a subject. An empty id would lead to another route. */
export function idOf(subject: Subject): string {
  const id = typeof subject === 'string' ? subject : Object(subject).id;
  if (typeof id !== 'string' || id === '') throw invalidArgument('A record needs an id.');
  return id;
}

/** A collection's writes. */
export function createWrites(transport: Transport, name: string) {
  const at = (...segments: string[]): string => apiPath('records', name, ...segments);

  /** Sends a request that returns a record, and remembers the record's version. */
  async function record(call: Call): Promise<object> {
    const { status, headers, json } = await transport.send(call);
    const { data } = Object(json) as { readonly data: object | null };
    if (Object(data) !== data && call.method !== 'DELETE') throw unexpectedAnswer(status);
    return remember(data as object, headers.get('etag'));
  }

  /** Sends a write that may expect a version. */
  async function change(subject: Subject, call: Call, options: ChangeOptions): Promise<object> {
    const expected = expectedOf(subject, options.ifMatch);
    const sendWith = (tag: string | undefined): Promise<object> =>
      record({ ...call, headers: { ...call.headers, 'If-Match': tag } });
    try {
      return await sendWith(expected.tag);
    } catch (error) {
      const tag = await tagOfUnchanged(transport, name, subject, error, expected, options);
      if (tag === undefined) throw error;
      return sendWith(tag);
    }
  }

  const keyed = ({ query, signal, onProgress, idempotencyKey }: WriteOptions) => ({
    query,
    signal,
    onProgress,
    key: idempotencyKey ?? true,
  });

  const methods = {
    create: async (values: unknown, options: WriteOptions = {}) =>
      record({ method: 'POST', path: at(), values, ...keyed(options) }),
    update: async (subject: Subject, values: unknown, options: ChangeOptions = {}) =>
      change(subject, { method: 'PATCH', path: at(idOf(subject)), values, ...keyed(options) }, options),
    async upsert(
      target: UpsertTarget<object>,
      values: unknown,
      options: ChangeOptions & { readonly onlyCreate?: boolean } = {},
    ) {
      const isById = typeof target === 'string';
      const headers = {
        'If-Match': options.ifMatch || undefined,
        'If-None-Match': options.onlyCreate ? '*' : undefined,
      };
      const path = isById ? at(idOf(target)) : at();
      const query = mergeQueries(options.query, isById ? {} : { on: target.on });
      return record({ method: 'PUT', path, values, headers, ...keyed(options), query });
    },
    async delete(subject: Subject, options: ChangeOptions = {}): Promise<void> {
      const { query, signal } = options;
      await change(subject, { method: 'DELETE', path: at(idOf(subject)), query, signal }, options);
    },
    restore: async (subject: Subject, point: RestorePoint, options: ChangeOptions = {}) =>
      change(
        subject,
        {
          method: 'POST',
          path: at(idOf(subject), 'restore'),
          values: {},
          ...keyed(options),
          query: mergeQueries(options.query, point),
        },
        options,
      ),
  };
  return { record, methods };
}

/**
 * After a write was refused and only its version's second was known, returns the current version's ETag if the record
 * still has the values that were read. Otherwise returns undefined.
 */
export async function tagOfUnchanged(
  transport: Transport,
  collection: string,
  subject: Subject,
  error: unknown,
  expected: Expected,
  { query, signal }: CallOptions,
): Promise<string | undefined> {
  if (typeof subject === 'string' || !isSameSecond(error, expected)) return undefined;
  const path = apiPath('records', collection, idOf(subject));
  const { headers, json } = await transport.send({ method: 'GET', path, query, signal });
  const { data } = Object(json) as { readonly data: object };
  return isUnchanged(subject, data) ? (headers.get('etag') ?? undefined) : undefined;
}
