import { type AccountHooks, noteHookedAccounts, nothingHooked } from '@recordbus/accounts';
import { addOutboxGauges, type Bus, createOutboxRelay, type EventStream, eventStream } from '@recordbus/bus';
import type { Envelope } from '@recordbus/crypto';
import { type Database, mapDatabaseError } from '@recordbus/database';
import type { ExtensionsConfig } from '@recordbus/extension-host';
import { createIdempotencyKeys } from '@recordbus/idempotency';
import { createGuessLimit, createPasswordRules } from '@recordbus/passwords';
import { findCaseCollation } from '@recordbus/query';
import { createCollectionCache, createFieldSealing } from '@recordbus/schema';
import { createSettings } from '@recordbus/settings';
import { createDispatcher } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import { createMetrics } from '@recordbus/shared/metrics';
import type { RequestHandler, Service } from '@recordbus/shared/service';
import type { Storage } from '@recordbus/storage';
import { createFileTokens } from '@recordbus/tokens';
import { createHookedUsers } from './accounts/hooked-users.ts';
import { createReferrers } from './delete/referrers.ts';
import { createCollectionDescriptions } from './description/collection-descriptions.ts';
import type { Extensions } from './extensions/extensions.ts';
import { createDownloadTokens } from './files/download-tokens.ts';
import { createDownloads } from './files/downloads.ts';
import { createRemovals } from './files/removals.ts';
import { createFindLostFiles } from './history/find-lost-files.ts';
import { accountHookRoutes } from './routes/account-hooks.ts';
import { createRoute } from './routes/create.ts';
import { cronRoutes } from './routes/crons.ts';
import { deleteRoute } from './routes/delete.ts';
import { downloadRoute } from './routes/download.ts';
import { fileTokenRoute } from './routes/file-token.ts';
import { getRoute } from './routes/get.ts';
import { historyRoute, restoreRoute } from './routes/history.ts';
import { listRoute } from './routes/list.ts';
import type { RouteDeps } from './routes/route-deps.ts';
import { updateRoute } from './routes/update.ts';
import { createServedCollections } from './schema/served-collections.ts';
import { createSearchVectors } from './vector/search-vectors.ts';
import { createHookedTransactions } from './write/hooked-transactions.ts';

interface RecordsDeps {
  readonly log: Logger;
  readonly database: Database;
  readonly bus: Bus;
  /** Raw bytes of the secret that signs tokens; from it come the keys of what is kept for idempotency. */
  readonly secret: Uint8Array;
  /** Opens secret settings, seals and opens encrypted fields. */
  readonly envelope: Envelope;
  readonly config: {
    /** Where breached passwords are asked for. */
    readonly breachServiceUrl: string;
    /** Largest multipart body; 100 MiB when not given. */
    readonly maxUploadBytes?: number;
    /** Where push notification providers are asked. */
    readonly onesignalUrl: string;
    readonly fcmUrl: string;
  };
  /** Where the bytes of files are. */
  readonly storage: Storage;
  /** Where events go, when it is not the stream of interface §6. */
  readonly stream?: EventStream;
  /** Where the extensions are; none when not given. */
  readonly extensions?: ExtensionsConfig | undefined;
  /** How much memory the vectors of searches may take; 512 MiB when not given. */
  readonly vectorMemoryBytes?: number;
}

/** Contract §1. */
const defaultMaxUploadBytes = 100 * 1024 * 1024;

const tellAgainMs = 1000;

/** Below it are the routes of extensions. */
const extensionPath = '/api/x/';

/** The records API (interface §4.5) on the three record paths. */
export function createRecords(given: RecordsDeps): Service & { readonly accountHooks: AccountHooks } {
  const { log, database, bus, secret, envelope, config, storage, stream = eventStream, vectorMemoryBytes } = given;
  let extensions: Extensions | undefined;
  const settings = createSettings({ database, bus, log, envelope });
  const cache = createCollectionCache({ database, bus, log });
  const relay = createOutboxRelay({ database, bus, log, stream });
  const metrics = createMetrics('records');
  addOutboxGauges(metrics, database.query);
  const sealing = createFieldSealing({ envelope, log });
  let collation: string | undefined;
  const removals = createRemovals({ database, storage, log });
  const deps: RouteDeps = {
    database: { ...database, hookedTransaction: createHookedTransactions(database) },
    hooks: { find: (collection, operation) => extensions?.beforeHooks.find(collection, operation) },
    collections: createServedCollections(cache),
    schema: {
      findCollection: cache.find,
      get collation() {
        return collation;
      },
    },
    sealing,
    searchVectors: createSearchVectors({ ...database, sealing }, vectorMemoryBytes),
    findReferrers: createReferrers(cache.all),
    findLostFiles: createFindLostFiles(storage),
    storage,
    removals,
    downloads: createDownloads({
      query: database.query,
      storage,
      log,
      tokens: createDownloadTokens({
        query: database.query,
        findCollection: cache.find,
        tokens: createFileTokens(secret),
        windowSec: () => settings.get('auth.file.window_seconds'),
      }),
    }),
    maxUploadBytes: config.maxUploadBytes ?? defaultMaxUploadBytes,
    wakeRelay: relay.wake,
    tellGateways: () => bus.notify('accounts'),
    guessLimit: createGuessLimit({ database, nowSec: () => Math.floor(Date.now() / 1000) }),
    passwords: createPasswordRules({ settings, log, breachServiceUrl: config.breachServiceUrl }),
  };
  const recordRoutes = {
    list: listRoute(deps),
    view: getRoute(deps),
    create: createRoute(deps),
    update: updateRoute(deps),
    delete: deleteRoute(deps),
    history: historyRoute(deps),
    restore: restoreRoute(deps),
  };
  const routes = [
    ...Object.values(recordRoutes),
    downloadRoute(deps),
    fileTokenRoute(deps),
    ...cronRoutes({ database, findScheduler: () => extensions?.scheduler }),
  ];
  const dispatching = { log, mapError: mapDatabaseError };
  const idempotency = createIdempotencyKeys({ database, log, secret });
  const handle = createDispatcher(routes, { ...dispatching, idempotency });
  let handleExtensions: RequestHandler | undefined;
  let routesChanged = () => {};
  let tellingAgain: NodeJS.Timeout | undefined;

  async function startExtensions(extensionsConfig: ExtensionsConfig): Promise<void> {
    // Loaded here, so that a service without extensions starts as if there were none.
    const { startExtensions } = await import('./extensions/extensions.ts');
    const started = await startExtensions({
      config: extensionsConfig,
      records: deps,
      settings,
      bus,
      stream,
      urls: config,
      log,
    });
    extensions = started;
    const serve = () => {
      handleExtensions = createDispatcher(started.routes, { ...dispatching, idempotency });
    };
    serve();
    started.onChange(() => {
      serve();
      routesChanged();
      bus.notify('routes');
      void tellAuthAtLast();
    });
  }

  /** Until it is noted, auth would write accounts without asking hooks that are new. */
  async function tellAuthAtLast(): Promise<void> {
    try {
      await tellAuth();
    } catch (error) {
      log.warn(
        { err: error, retryInMs: tellAgainMs },
        'which accounts have hooks could not be noted and is tried again',
      );
      tellingAgain = setTimeout(tellAuthAtLast, tellAgainMs).unref();
    }
  }

  const accountHooks: AccountHooks = {
    get hooked() {
      return extensions?.hookedAccounts ?? nothingHooked;
    },
    beforeSignIn: async (attempt, context) => extensions?.beforeSignIn(attempt, context),
    ...createHookedUsers(deps),
  };

  async function tellAuth(): Promise<void> {
    if (await noteHookedAccounts(database.query, accountHooks.hooked)) bus.notify('account-hooks');
  }

  return {
    name: 'records',
    accountHooks,
    handleInner: createDispatcher(accountHookRoutes(accountHooks), dispatching),
    get routes() {
      return [...routes, ...(extensions?.routes ?? [])];
    },
    onRoutesChange(listener) {
      routesChanged = listener;
    },
    describe: createCollectionDescriptions(cache, recordRoutes),
    handle: (request, response, context) =>
      handleExtensions && request.url?.startsWith(extensionPath)
        ? handleExtensions(request, response, context)
        : handle(request, response, context),
    checks: { database: () => database.ping(), bus: () => bus.ping() },
    // Reads and writes go on without the bus; the outbox keeps the events.
    dispensable: new Set(['bus']),
    metrics,
    async start() {
      collation = await findCaseCollation(database.query);
      await settings.start();
      await cache.start();
      relay.start();
      removals.start();
      if (given.extensions) await startExtensions(given.extensions);
      await tellAuth();
    },
    async stop() {
      clearTimeout(tellingAgain);
      await extensions?.stop();
      await cache.stop();
      await removals.stop();
      await settings.stop();
      await relay.stop();
    },
  };
}
