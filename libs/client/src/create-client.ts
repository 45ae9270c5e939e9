import { type Admin, createAdmin } from './admin/admin.ts';
import { createRequests } from './admin/requests.ts';
import type { OpenedPortal, PolledEvents, WebhookOwner } from './admin/webhook-types.ts';
import {
  createOwnedWebhooks,
  type OwnedWebhooks,
  openPortal,
  type PolledPlace,
  polledEvents,
} from './admin/webhooks.ts';
import { type Accounts, createAccounts } from './auth/accounts.ts';
import type { Batch, Results } from './batch/operations.ts';
import { sendBatch } from './batch/send-batch.ts';
import { callRoute } from './call-route.ts';
import { invalidArgument, type RecordbusError } from './error.ts';
import type { ChannelMessage, LiveConnection, Subscription } from './live/types.ts';
import { type Collection, createCollection } from './records/collection.ts';
import { createFileToken, type FileToken } from './records/files.ts';
import type { WriteOptions } from './records/options.ts';
import { type AnyReadOptions, readBody } from './records/query.ts';
import type { SearchAnswers, SearchQuery } from './records/search.ts';
import { createSessionKeeper, type SessionKeeper } from './session/keeper.ts';
import { memoryStore, type SessionStore } from './session/session.ts';
import { type Call, type CallOptions, createTransport, type Transport } from './transport.ts';
import type { RouteAnswer, RouteInput, RoutesOf } from './types/routes.ts';
import type { AnySchema, AuthName, CollectionName, CreateOf, RecordOf, SchemaOf } from './types/schema.ts';
import { apiPath } from './url.ts';

/** A client's options. */
export interface ClientOptions {
  /** A session token or a service key, kept in memory. Not together with `store`. */
  readonly token?: string | undefined;
  /** Where the session is kept; in memory by default. */
  readonly store?: SessionStore | undefined;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** The address in the setting `files.host`, which serves files; by default the stack's address. */
  readonly filesUrl?: string | undefined;
  /** How the client follows changes; by default over server-sent events, with its own connection. */
  readonly live?: LiveConnection | undefined;
  /** Headers for every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An argument that may be omitted if it has no required members. */
type Optional<T> = Record<never, never> extends T ? [input?: T] : [input: T];

/** A deployment's health. */
export interface Health {
  readonly status: 'ok' | 'degraded';
  readonly version: string;
  readonly services: Readonly<Record<string, string>>;
}

/** A stack's client. */
export interface Client<S, R = Record<never, never>> {
  /** The stack's address, without a slash at the end. */
  readonly url: string;
  /** A collection's records. */
  from<C extends CollectionName<S>>(collection: C): Collection<S, C>;
  /**
   * Does several writes together: all of them, or none. The result is what `build` returns, with each operation
   * replaced by its record.
   *
   * @example
   * const { order } = await client.batch((batch) => {
   *   const order = batch.from('orders').create({ title: 'First' });
   *   batch.from('lines').create({ order: order.ref('id'), name: 'Ink' });
   *   return { order };
   * });
   */
  batch<T>(build: (batch: Batch<S>) => T, options?: WriteOptions): Promise<Results<T>>;
  /**
   * Searches in up to ten collections. Each answer is a page, or why that search is refused.
   *
   * @example
   * const [books, writers] = await client.search([
   *   { collection: 'books', search: text, highlight: ['title'] },
   *   { collection: 'writers', search: text },
   * ]);
   */
  search<const Q extends readonly SearchQuery<S>[]>(queries: Q, options?: CallOptions): Promise<SearchAnswers<S, Q>>;
  /** An auth collection's accounts: sign-up, sign-in, and the signed-in account. */
  auth<C extends AuthName<S>>(collection: C): Accounts<RecordOf<S, C>, CreateOf<S, C>>;
  /** The admin routes: collections, webhooks, settings, logs. */
  readonly admin: Admin;
  /**
   * The webhooks that a record owns, for those who manage them.
   *
   * @example
   * const { data } = await client.webhooks({ collection: 'companies', id: company.id }).list();
   */
  webhooks(owner: WebhookOwner): OwnedWebhooks;
  /** Opens a portal link, once: with the session, requests manage one owner's webhooks. */
  openPortal(token: string, options?: CallOptions): Promise<OpenedPortal>;
  /** Reads the events of a webhook with the type `poll`, by its key. */
  polledEvents(place: PolledPlace, options?: CallOptions): Promise<PolledEvents>;
  /** Sends a message to a channel's subscribers. */
  broadcast(channel: string, data: unknown, options?: CallOptions): Promise<void>;
  /**
   * Follows a channel. With `presence`, this client is present in it under a key, with a state.
   *
   * @example
   * await client.channel('room:1', { presence: { key: 'ann', state: null }, onMessage: (message) => show(message) });
   */
  channel(
    name: string,
    options: CallOptions & {
      readonly presence?: { readonly key: string; readonly state: unknown } | undefined;
      readonly onMessage: (message: ChannelMessage) => void;
      readonly onError?: ((error: RecordbusError) => void) | undefined;
    },
  ): Promise<Subscription>;
  /** The services' health. */
  health(options?: CallOptions): Promise<Health>;
  /** The API document, as OpenAPI 3.1. */
  openapi(options?: CallOptions): Promise<Readonly<Record<string, unknown>>>;
  /** Gets a token for every protected file that the caller may see. It lasts three minutes. */
  fileToken(options?: CallOptions): Promise<FileToken>;
  /** The client's session: who is signed in, and a listener for changes. */
  readonly session: SessionKeeper;
  /**
   * Calls a route of an extension, and returns `data` of its answer. `Routes` has its types.
   *
   * @example
   * await client.call('POST /api/x/books/{id}/lend', { params: { id: book.id }, body: { days: 14 } });
   */
  call<K extends keyof R & string>(route: K, ...input: Optional<RouteInput<R, K>>): Promise<RouteAnswer<R, K>>;
  /** Sends a request to any route, and returns `data` of the answer. */
  request<T = unknown>(call: Call): Promise<T>;
  /** Sends requests, for code that builds on the client. */
  readonly transport: Transport;
}

/**
 * Without `http://`, a name and a port would be a protocol and a path. In a page, an empty address is the page's own.
 */
function addressOf(url: string): string {
  if (!/^(https?:\/\/.|\/?$)/i.test(url)) throw invalidArgument('The URL must begin with http:// or https://.');
  return url.endsWith('/') ? url.slice(0, -1) : url;
}

/**
 * Creates a client of the stack at `url`. `Schema` and `Routes` are the types that `recordbus types` writes.
 *
 * @example
 * const client = createClient<Schema>('https://api.example.com', { store: localStorageStore() });
 */
export function createClient<S extends SchemaOf<S> = AnySchema, R extends RoutesOf<R> = Record<never, never>>(
  url: string,
  options: ClientOptions = {},
): Client<S, R> {
  const { token, fetch, headers = {} } = options;
  if (token !== undefined && options.store) throw invalidArgument('A client takes a token or a store.');
  const store = options.store ?? memoryStore(token === undefined ? undefined : { token });
  const baseUrl = addressOf(url);
  const session = createSessionKeeper(store, async (old) => {
    const authorization = { Authorization: `Bearer ${old}` };
    const call: Call = { method: 'POST', path: apiPath('auth', 'refresh'), headers: authorization, isAnonymous: true };
    return (await transport.data<{ readonly token: string }>(call)).token;
  });
  const live = { ...options.live, sessionName: store.name };
  const filesUrl = options.filesUrl === undefined ? baseUrl : addressOf(options.filesUrl);
  const transport = createTransport({ baseUrl, filesUrl, fetch, headers, live, token: () => session.token() });
  return {
    url: baseUrl,
    from: <C extends CollectionName<S>>(collection: C) =>
      createCollection(transport, collection) as unknown as Collection<S, C>,
    batch: <T>(build: (batch: Batch<S>) => T, more?: WriteOptions) =>
      sendBatch(transport, build as never, more) as Promise<Results<T>>,
    search: <const Q extends readonly SearchQuery<S>[]>(queries: Q, more?: CallOptions) =>
      transport.data<SearchAnswers<S, Q>>({
        method: 'POST',
        path: apiPath('search'),
        values: { queries: queries.map((query) => readBody(query as AnyReadOptions)) },
        ...more,
      }),
    auth: <C extends CollectionName<S>>(collection: C) =>
      createAccounts<RecordOf<S, C>, CreateOf<S, C>>(transport, session, collection),
    admin: createAdmin(transport, session),
    webhooks: (owner) => createOwnedWebhooks(createRequests(transport), owner),
    openPortal: (token, options) => openPortal(createRequests(transport), token, options),
    polledEvents: (place, options) => polledEvents(transport, place, options),
    async broadcast(channel, data, more) {
      const path = apiPath('realtime', 'channels', channel);
      await transport.send({ method: 'POST', path, values: { data }, ...more });
    },
    channel: async (name, more) =>
      (await import('./live/live.ts')).openChannel(transport, name, more as never) as Promise<Subscription>,
    health: (more) => transport.data({ method: 'GET', path: apiPath('health'), ...more }),
    openapi: async (more) =>
      (await transport.send({ method: 'GET', path: apiPath('openapi.json'), ...more })).json as Readonly<
        Record<string, unknown>
      >,
    fileToken: (more = {}) => createFileToken(transport, more),
    session,
    call: (async (route: string, input?: object) => callRoute(transport, route, input)) as never,
    request: (call) => transport.data(call),
    transport,
  };
}
