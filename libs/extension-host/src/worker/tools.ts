import type { Caller, Fetched, FetchOptions, Log, MailAttachment, Records, Tools } from '@recordbus/extensions';
import type { LogLevel } from '../protocol.ts';
import { HostRefusal } from './host-refusal.ts';
import { jsonText } from './json-text.ts';
import type { WriteLog } from './log-writer.ts';

/** Runs a tool on the host and returns its result; `method` is `<tool>.<function>`. */
export type Ask = (method: string, args: unknown[]) => Promise<unknown>;

/** Creates one call's tools. This thread's environment holds only variables for extensions. */
export function createTools(ask: Ask, log: WriteLog): Tools {
  const line = (level: LogLevel) => (message: string, fields?: object) => log(level, String(message), fields);
  return {
    records: createRecords(ask),
    webhooks: {
      dispatch: async (event, payload) => ({ id: String(await ask('webhooks.dispatch', [event, jsonText(payload)])) }),
    },
    http: { fetch: async (url, options = {}) => toFetched(await ask('http.fetch', [String(url), toRequest(options)])) },
    notifications: {
      send: async (notification) => JSON.parse(String(await ask('notifications.send', [jsonText(notification)]))),
    },
    mail: {
      async send({ attachments = [], ...mail }) {
        const [rows, contents] = splitAttachments(attachments);
        return JSON.parse(String(await ask('mail.send', [jsonText({ ...mail, attachments: rows }), contents])));
      },
    },
    settings: { get: async (key) => String(await ask('settings.get', [key])) },
    kv: createKeyValueStore(ask),
    jobs: {
      enqueue: async (name, input, options = {}) =>
        JSON.parse(String(await ask('jobs.enqueue', [name, jsonText(input), options]))),
      cancel: async (key, name) => Number(await ask('jobs.cancel', [key, name])),
    },
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') } satisfies Log,
    env: process.env,
  };
}

/** Takes the attachments' bytes out, which JSON cannot hold. */
function splitAttachments(attachments: readonly MailAttachment[]): [object[], (Uint8Array | undefined)[]] {
  const contents = attachments.map((one) => {
    const content: unknown = 'content' in one ? one.content : undefined;
    if (typeof content === 'string') return new TextEncoder().encode(content);
    return content instanceof Uint8Array ? content : undefined;
  });
  return [attachments.map((one) => ({ ...one, content: undefined })), contents];
}

function createRecords(ask: Ask, as?: Caller): Records {
  const call = async (name: string, ...args: unknown[]) =>
    JSON.parse(String(await ask(`records.${name}`, [as, ...args])));
  const records: Records = {
    list: (collection, options = {}) => call('list', collection, options),
    listByCursor: (collection, options = {}) => call('list', collection, { cursor: '', ...options }),
    get: async (collection, id, options = {}) => (await call('get', collection, id, options)).data,
    async find(collection, id, options = {}) {
      try {
        return await records.get(collection, id, options);
      } catch (error) {
        if (error instanceof HostRefusal && error.status === 404 && error.code === 'not_found') return undefined;
        throw error;
      }
    },
    lock: async (collection, id) => (await call('lock', collection, id)).data,
    create: async (collection, values) => (await call('create', collection, jsonText(values))).data,
    update: async (collection, id, values) => (await call('update', collection, id, jsonText(values))).data,
    put: async (collection, id, values) => (await call('put', collection, id, jsonText(values))).data,
    upsert: async (collection, on, values) =>
      (await call('upsert', collection, [on].flat().join(), jsonText(values))).data,
    async delete(collection, id) {
      await call('delete', collection, id);
    },
    batch: async (operations) => (await call('batch', jsonText({ operations }))).data,
    as: (caller) => createRecords(ask, caller as Caller),
  };
  return records;
}

function createKeyValueStore(ask: Ask): Tools['kv'] {
  const ttlOf = (options: { readonly ttlSec?: number } | undefined) => options?.ttlSec;
  return {
    async get(key) {
      const text = await ask('kv.get', [key]);
      return typeof text === 'string' ? JSON.parse(text) : undefined;
    },
    async set(key, value, options) {
      await ask('kv.set', [key, jsonText(value), ttlOf(options)]);
    },
    setIfAbsent: async (key, value, options) =>
      (await ask('kv.setIfAbsent', [key, jsonText(value), ttlOf(options)])) === true,
    increment: async (key, by = 1) => Number(await ask('kv.increment', [key, by])),
    async delete(key) {
      await ask('kv.delete', [key]);
    },
    list: async (prefix = '') => JSON.parse(String(await ask('kv.list', [prefix]))),
  };
}

/** Accepts options in the style of `fetch`: methods in lower case, headers as a Headers object. */
const toRequest = ({ method, headers, ...rest }: FetchOptions): FetchOptions => ({
  ...rest,
  ...(method !== undefined && { method: String(method).toUpperCase() }),
  ...(headers !== undefined && { headers: headers instanceof Headers ? Object.fromEntries(headers) : headers }),
});

interface FetchAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

function toFetched(answer: unknown): Fetched {
  const { status, headers, bytes } = answer as FetchAnswer;
  const text = () => new TextDecoder().decode(bytes);
  return { status, ok: status >= 200 && status <= 299, headers, bytes, text, json: () => JSON.parse(text()) };
}
