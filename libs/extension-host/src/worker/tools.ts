import type { Caller, Fetched, Log, Records, Tools } from '@recordbus/extensions';
import type { LogLevel } from '../protocol.ts';
import { HostRefusal } from './host-refusal.ts';

/** Asks the host, and gives what it answers; `method` is `<tool>.<function>`. */
export type Ask = (method: string, args: unknown[]) => Promise<unknown>;

/** What crosses to the host is JSON: it says what is lost and what is refused. */
const json = (value: unknown): string => {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError('the value can not be written as JSON');
  return text;
};

/** The tools of one call; the environment of this thread holds only variables that are meant for extensions. */
export function createTools(ask: Ask, log: (level: LogLevel, message: string, fields?: object) => void): Tools {
  const line = (level: LogLevel) => (message: string, fields?: object) =>
    log(level, String(message), fields && plain(fields));
  return {
    records: createRecords(ask),
    webhooks: {
      dispatch: async (event, payload) => ({ id: String(await ask('webhooks.dispatch', [event, json(payload)])) }),
    },
    http: { fetch: async (url, options = {}) => toFetched(await ask('http.fetch', [String(url), options])) },
    notifications: {
      send: async (notification) => JSON.parse(String(await ask('notifications.send', [json(notification)]))),
    },
    mail: {
      async send(mail) {
        await ask('mail.send', [json(mail)]);
      },
    },
    settings: { get: async (key) => String(await ask('settings.get', [key])) },
    kv: createKeyValueStore(ask),
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') } satisfies Log,
    env: process.env,
  };
}

/** Fields of a log line that can not be cloned must not fail the call. */
function plain(fields: object): object {
  try {
    return JSON.parse(JSON.stringify(fields));
  } catch {
    return {};
  }
}

function createRecords(ask: Ask, as?: Caller): Records {
  const call = async (name: string, ...args: unknown[]) =>
    JSON.parse(String(await ask(`records.${name}`, [as, ...args])));
  const records: Records = {
    list: (collection, options = {}) => call('list', collection, options),
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
    create: async (collection, values) => (await call('create', collection, json(values))).data,
    update: async (collection, id, values) => (await call('update', collection, id, json(values))).data,
    async delete(collection, id) {
      await call('delete', collection, id);
    },
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
      await ask('kv.set', [key, json(value), ttlOf(options)]);
    },
    setIfAbsent: async (key, value, options) =>
      (await ask('kv.setIfAbsent', [key, json(value), ttlOf(options)])) === true,
    increment: async (key, by = 1) => Number(await ask('kv.increment', [key, by])),
    async delete(key) {
      await ask('kv.delete', [key]);
    },
    list: async (prefix = '') => JSON.parse(String(await ask('kv.list', [prefix]))),
  };
}

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

function toFetched(answer: unknown): Fetched {
  const { status, headers, bytes } = answer as Answered;
  const text = () => new TextDecoder().decode(bytes);
  return { status, ok: status >= 200 && status <= 299, headers, bytes, text, json: () => JSON.parse(text()) };
}
