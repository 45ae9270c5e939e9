import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectBus } from '@recordbus/bus';
import { createValueCipher, type ValueCipher } from '@recordbus/crypto';
import { type Database, openDatabase } from '@recordbus/database';
import { createTemporaryDatabase } from '@recordbus/database/testing';
import type { ExtensionsConfig } from '@recordbus/extension-host';
import { createLiveReadsClient, type LiveReads } from '@recordbus/live';
import { createLogger } from '@recordbus/process/logging';
import { contextHeader, createContextSigner, type Principal } from '@recordbus/request/context';
import { type Collection, createCollectionCache } from '@recordbus/schema';
import { createSettings } from '@recordbus/settings';
import { openLocalStorage, type Storage } from '@recordbus/storage';
import { createRecords } from '../src/app.ts';
import { createCollection } from './create-collection.ts';
import type { StatementLog } from './statement-log.ts';

export { skipWithoutDatabase } from '@recordbus/database/testing';

const serverUrl = process.env.TEST_DATABASE_URL;

/** The callers, by the name in `as`. */
const principals = {
  guest: { type: 'guest', rejectedToken: false },
  stranger: { type: 'guest', rejectedToken: true },
  user: { type: 'user', id: 'u1', email: 'u@x.org', collection: 'users', anonymous: false, impersonatedBy: null },
  admin: { type: 'admin', id: 'a1', email: 'a@x.org' },
} as const satisfies Record<string, Principal>;

export interface Sent {
  readonly as?: keyof typeof principals | Principal;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A record in an answer or an event. */
export interface ShownRecord {
  readonly id: string;
  readonly created: number;
  readonly updated: number;
  readonly [field: string]: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The version in the ETag; empty without an ETag. */
  readonly version: string;
  readonly text: string;
  /** The whole body. */
  readonly json: {
    readonly data?: unknown;
    readonly totalItems?: number;
    readonly error?: string;
    readonly code?: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
  /** `data` in an answer with one record. */
  readonly record: ShownRecord;
  /** `data` in an answer with a list of records. */
  readonly rows: readonly ShownRecord[];
}

/** An event in the outbox. */
interface WrittenEvent {
  readonly id: string;
  readonly event: string;
  readonly timestamp: number;
  readonly collection: string;
  readonly version: string;
  readonly schema: string;
  readonly data: { readonly record: ShownRecord; readonly previous?: ShownRecord; readonly changed?: string[] };
  readonly actor: { readonly type: string; readonly id: string | null };
  readonly request_id: string;
  readonly batch?: { readonly id: string; readonly index: number; readonly size: number };
}

/** The records service on its own database, without a bus: reads and writes must not need one. */
export interface RecordsFixture {
  readonly database: Database;
  readonly storage: Storage;
  readonly live: LiveReads;
  /** The same through the internal routes. */
  readonly liveOverHttp: LiveReads;
  send(method: string, path: string, sent?: Sent): Promise<Answer>;
  create(collection: Collection): Promise<void>;
  /** The events written since the last call, oldest first. */
  takeEvents(): Promise<WrittenEvent[]>;
  stop(): Promise<void>;
}

interface FixtureOptions {
  readonly vectorMemoryBytes?: number;
  /** Whether relations have foreign keys; true by default. */
  readonly hasKeys?: boolean;
  readonly cipher?: ValueCipher;
  /** Through which the database is reached. */
  readonly statements?: StatementLog;
  /** The sources, by file name. */
  readonly extensions?: Readonly<Record<string, string>> | undefined;
}

/** Starts the service with the given collections, behind a gateway that trusts a test's caller. */
export async function startRecords(
  collections: readonly Collection[],
  { statements, extensions, hasKeys = true, ...options }: FixtureOptions = {},
): Promise<RecordsFixture> {
  if (!serverUrl) throw new Error('TEST_DATABASE_URL is not set');
  // After a failed start everything is stopped, and the test fails.
  await using starting = new AsyncDisposableStack();
  const log = createLogger('records', 'silent');
  const temporary = await createTemporaryDatabase(serverUrl);
  starting.defer(() => temporary.drop());
  const url = statements?.through(temporary.url) ?? temporary.url;
  const database = await openDatabase({ url, name: 'records', log });
  starting.defer(() => database.close());
  for (const collection of collections) await createCollection(database, collection, { hasKeys });
  const bus = connectBus({ urls: 'nats://127.0.0.1:1', name: 'records', log });
  starting.defer(() => bus.close());
  const openDirectory = async (purpose: string) => {
    const directory = await mkdtemp(join(tmpdir(), `recordbus-test-${purpose}-`));
    starting.defer(() => rm(directory, { recursive: true }));
    return directory;
  };
  const storage = await openLocalStorage(await openDirectory('uploads'));
  const archives = await openLocalStorage(await openDirectory('backups'));
  const backups = { databaseUrl: url, archives, holdsFiles: true, maxBytes: async () => 2 ** 40 };
  const extensionsConfig = extensions && (await writeExtensions(await openDirectory('extensions'), extensions));
  const nowhere = 'http://127.0.0.1:1';
  const cipher = options.cipher ?? createValueCipher(undefined);
  const settings = createSettings({ database, bus, log, cipher });
  starting.defer(() => settings.stop());
  // As for other tests' gateways.
  await database.query({ text: `insert into system.settings values ('rate_limit.enabled', '0', 0)`, values: [] });
  await settings.start();
  const copy = createCollectionCache({ database, bus, log });
  starting.defer(() => copy.stop());
  await copy.start();
  const service = createRecords({
    log,
    database,
    bus,
    settings,
    collections: copy,
    secret: randomBytes(32),
    ...options,
    cipher,
    config: { breachServiceUrl: nowhere, fcmUrl: nowhere, onesignalUrl: nowhere },
    storage,
    backups,
    moves: { folder: await openDirectory('moves'), gatewayUrl: () => undefined },
    extensions: extensionsConfig,
  });
  starting.defer(() => service.stop());
  await service.start();
  const contextSigner = createContextSigner(randomBytes(32));
  const server = createServer({ maxHeaderSize: 128 * 1024 }, (request, response) =>
    request.url?.startsWith('/internal/')
      ? service.handleInternal?.(request, response, contextSigner.verify(request.headers[contextHeader], request))
      : service.handle(request, response, {
          requestId: 'r1',
          traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00',
          principal: principalOf(request),
          clientAddress: '127.0.0.1',
        }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  starting.defer(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  const started = starting.move();
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let lastEvent = 0;

  return {
    database,
    storage,
    live: service.live,
    liveOverHttp: createLiveReadsClient({ url: base, contextSigner }),
    create: (collection) => createCollection(database, collection),
    async send(method, path, { as = 'guest', body, headers } = {}) {
      const response = await fetch(`${base}${path}`, {
        method,
        headers: {
          'x-test-principal': JSON.stringify(typeof as === 'string' ? principals[as] : as),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const json = text ? JSON.parse(text) : {};
      const { status, headers: answered } = response;
      const version = answered.get('etag')?.slice(3, -1) ?? '';
      return { status, headers: answered, version, text, json, record: json.data, rows: json.data };
    },
    async takeEvents() {
      const rows = await database.query<{ id: number; body: string }>({
        text: 'select id, body from system.outbox where id > $1 order by id',
        values: [lastEvent],
      });
      lastEvent = rows.at(-1)?.id ?? lastEvent;
      return rows.map(({ body }) => JSON.parse(body));
    },
    stop: () => started.disposeAsync(),
  };
}

async function writeExtensions(
  directory: string,
  sources: NonNullable<FixtureOptions['extensions']>,
): Promise<ExtensionsConfig> {
  for (const [name, source] of Object.entries(sources)) await writeFile(join(directory, name), source);
  return { directory, isAwaited: false, maxWorkers: 1, maxJobWorkers: 1, memoryMb: 128, followsChanges: false };
}

const principalOf = ({ headers }: IncomingMessage): Principal => JSON.parse(String(headers['x-test-principal']));
