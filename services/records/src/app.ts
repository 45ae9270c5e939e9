import type { AccountHooks } from '@recordbus/accounts';
import { checkRoom, createErasedRecords } from '@recordbus/bus';
import { limitRules, mapDatabaseError } from '@recordbus/database';
import { createDispatcher } from '@recordbus/http';
import type { RequestHandler, Service } from '@recordbus/http/service';
import { createIdempotencyKeys } from '@recordbus/idempotency';
import type { LiveReads } from '@recordbus/live';
import { createFilteredClient } from '@recordbus/settings';
import { createTakePicture } from './account-writes/take-picture.ts';
import { createUserWriter } from './account-writes/user-writer.ts';
import { followBackupSchedule } from './backups/backup-schedule.ts';
import { createBackups } from './backups/backups.ts';
import { createRestores } from './backups/restores.ts';
import { createCollectionDescriptions } from './description/collection-descriptions.ts';
import { addExtensionJobMetrics } from './extensions/jobs/job-metrics.ts';
import { createServedExtensions, type ServedExtensions } from './extensions/served-extensions.ts';
import { createInboundMails } from './inbound-mail/inbound-mails.ts';
import { createLiveReads } from './live/live-reads.ts';
import { createMoves } from './moves/moves.ts';
import { forgetTotals } from './read/total.ts';
import { createExplainViewFailure } from './read/view-failure.ts';
import { createRecordSubjects } from './record-subjects.ts';
import type { RecordsDeps } from './records-deps.ts';
import { createRecordsErasures } from './records-erasures.ts';
import { createRecordsJobs, type RecordsJobs } from './records-jobs.ts';
import { createRecordsParts } from './records-parts.ts';
import { aggregateRoute } from './routes/aggregate.ts';
import { backupRoutes } from './routes/backups.ts';
import { batchRoute } from './routes/batch.ts';
import { createRoute } from './routes/create.ts';
import { cronRoutes } from './routes/crons.ts';
import { deleteRoute } from './routes/delete.ts';
import { downloadRoute } from './routes/download.ts';
import { exportRoute } from './routes/export.ts';
import { extensionJobRoutes } from './routes/extension-jobs.ts';
import { fileTokenRoute } from './routes/file-token.ts';
import { getRoute } from './routes/get.ts';
import { historyRoute } from './routes/history.ts';
import { inboundMailRoute } from './routes/inbound-mail.ts';
import { internalAccountRoutes } from './routes/internal-accounts.ts';
import { internalLiveRoutes } from './routes/internal-live.ts';
import { listRoute } from './routes/list.ts';
import { listByBodyRoute } from './routes/list-by-body.ts';
import { moveRoutes } from './routes/moves.ts';
import { putRoute, upsertRoute } from './routes/put.ts';
import { putFileRoute } from './routes/put-file.ts';
import { restoreRoute } from './routes/restore.ts';
import { restoreRoutes } from './routes/restores.ts';
import type { RouteDeps } from './routes/route-deps.ts';
import { ruleTrialRoute } from './routes/rule-trial.ts';
import { searchRoute } from './routes/search.ts';
import { updateRoute } from './routes/update.ts';
import type { WriteHooks } from './write/write-hooks.ts';

export { openBackupPlace } from './backups/backup-place.ts';
export { operationVerbs } from './batch/operation.ts';

/** How many pictures are fetched from one server at a time. Each may take 5 MiB of memory. */
const maxPicturesPerOrigin = 8;

/** The jobs' path. */
const jobsPath = '/api/v1/jobs';

/** The prefix for extension routes. */
const extensionPath = '/api/x/';

/** Creates the records service: records, files, and the extensions. */
export function createRecords(
  deps: RecordsDeps,
): Service & { readonly accountHooks: AccountHooks; readonly live: LiveReads } {
  const database = limitRules(deps.database, () => deps.settings.get('records.read_timeout_ms'));
  const given = { ...deps, database };
  const { log, bus, secret, config } = given;
  const parts = createRecordsParts(given);
  const { settings, cache, stream, roomWatch } = parts;
  const { readReplicas } = database;
  const client = createFilteredClient(settings, { maxSocketsPerOrigin: maxPicturesPerOrigin });
  const hooks: WriteHooks = {
    find: (collection, operation) => extensions.loaded?.beforeHooks.find(collection, operation),
  };
  const records = createRecordSubjects(given, parts, hooks, client);
  const explainViewFailure = createExplainViewFailure({ collections: cache.all, log });
  const mapError = (error: unknown) => explainViewFailure(error) ?? mapDatabaseError(error);
  const compresses = () => settings.get('http.compression');
  const dispatching = { log, mapError, compresses };
  const idempotency = createIdempotencyKeys({
    database,
    claimOn: database.of('relaxedWrites'),
    removeOn: database.of('background'),
    log,
    secret,
  });
  const erased = createErasedRecords({ query: database.of('background').query, bus, log });
  const extensions = createServedExtensions({
    records,
    database,
    mapError,
    settings,
    cipher: given.cipher,
    bus,
    stream,
    erased,
    jobMetrics: addExtensionJobMetrics(parts.metrics, database.of('background').query),
    urls: config,
    log,
    dispatch: (routes) => createDispatcher(routes, { ...dispatching, idempotency }),
  });
  const inboundMails = createInboundMails({
    settings,
    cipher: given.cipher,
    write: records.write,
    query: database.of('background').query,
    takers: () => extensions.loaded?.mailTakers ?? [],
    log,
  });
  const jobs = createRecordsJobs(given, parts, records);
  const erasures = createRecordsErasures(given, parts, records);
  const { storage, backups: place } = given;
  const backups = createBackups({ database: database.of('background'), bus, log, storage, place });
  const restores = createRestores(given.restores, {
    query: database.of('background').query,
    archives: place.archives,
    log,
  });
  const backupSchedule = followBackupSchedule({
    query: database.of('background').query,
    log,
    schedule: () => settings.get('backups.cron'),
    make: () => backups.makeScheduled(settings.get('backups.keep')),
  });
  const maxBackupBytes = () => settings.get('jobs.max_body_bytes');
  const moves = createMoves({
    ...given.moves,
    database: database.of('background'),
    bus,
    log,
    archives: place.archives,
    maxBytes: maxBackupBytes,
    retentionDays: () => settings.get('jobs.retention_days'),
  });
  const recordRoutes = createRecordRoutes(records);
  const routes = [
    ...Object.values(recordRoutes),
    batchRoute(records),
    listByBodyRoute(records),
    searchRoute(records),
    downloadRoute(records),
    putFileRoute(records),
    fileTokenRoute(records),
    ruleTrialRoute(records, cache.all),
    ...jobs.routes,
    ...erasures.routes,
    ...backupRoutes({ database: database.of('admin'), backups, archives: place.archives }),
    ...restoreRoutes({ database: database.of('admin'), restores }),
    ...moveRoutes({ database: database.of('admin'), archives: place.archives, moves, maxBytes: maxBackupBytes }),
    inboundMailRoute(inboundMails),
    ...cronRoutes({
      database,
      all: () => [erasures.crons, ...(extensions.loaded ? [extensions.loaded.scheduler] : [])],
    }),
    ...extensionJobRoutes({ database: database.of('admin'), wakeJobs: () => bus.notify('extension-jobs') }),
  ];
  const handle = createDispatcher(routes, { ...dispatching, idempotency });
  const accountHooks = createAccountHooks(records, extensions, { client, log });

  const { collections: served, reads, encryption, schema } = records;
  const live = createLiveReads({ database, reads, cache, served, schema, encryption, mapError });
  let endFailovers = () => {};

  return {
    name: 'records',
    accountHooks,
    live,
    handleInternal: createDispatcher([...internalAccountRoutes(accountHooks), ...internalLiveRoutes(live)], {
      log,
      mapError,
    }),
    get routes() {
      return [...routes, ...(extensions.loaded?.routes ?? [])];
    },
    onRoutesChange: extensions.onRoutesChange,
    describe: createCollectionDescriptions(cache, recordRoutes),
    handle: withExtensionRoutes(notingRequests(handle, jobs), extensions),
    checks: {
      database: () => database.ping(),
      bus: () => bus.ping(),
      events: () => checkRoom(bus, roomWatch),
      ...(readReplicas && { readReplicas: async () => readReplicas.findProblem() }),
    },
    // Reads and writes work without the bus; the outbox keeps the events.
    dispensable: new Set(['bus', 'events']),
    metrics: parts.metrics,
    async start() {
      endFailovers = database.onFailover(forgetTotals);
      await parts.start();
      await erased.start();
      await extensions.start(given.extensions);
      // Imports run the hooks, so they are loaded first.
      jobs.start();
      erasures.start();
      inboundMails.start();
      moves.start();
      backupSchedule.start();
      restores
        .relist()
        .catch((err) => log.warn({ err }, 'cannot list the archives from before the restore'))
        .then(backups.tidy)
        .catch((err) => log.warn({ err }, 'cannot look for lost backups'));
    },
    async warm() {
      await parts.warm();
      await client.warm();
    },
    async stop() {
      endFailovers();
      await restores.stop();
      await Promise.all([backupSchedule.stop(), backups.stop()]);
      await moves.stop();
      await jobs.stop();
      await erasures.stop();
      await inboundMails.stop();
      await extensions.stop();
      await erased.stop();
      await client.close();
      await parts.stop();
    },
  };
}

/** Every collection's routes, by action. */
const createRecordRoutes = (deps: RouteDeps) => ({
  list: listRoute(deps),
  aggregate: aggregateRoute(deps),
  export: exportRoute(deps),
  view: getRoute(deps),
  create: createRoute(deps),
  update: updateRoute(deps),
  put: putRoute(deps),
  upsert: upsertRoute(deps),
  delete: deleteRoute(deps),
  history: historyRoute(deps),
  restore: restoreRoute(deps),
});

/** Creates the functions that the auth service calls: sign-in hooks, account writes, and providers' pictures. */
const createAccountHooks = (
  records: RouteDeps,
  extensions: ServedExtensions,
  fetching: Parameters<typeof createTakePicture>[1],
): AccountHooks => ({
  get hooked() {
    return extensions.hookedCollections;
  },
  beforeSignIn: async (attempt, context) => extensions.loaded?.beforeSignIn(attempt, context),
  ...createUserWriter(records),
  takePicture: createTakePicture(records, fetching),
});

/** Lets requests take precedence over jobs, except requests that poll a job's state. */
const notingRequests =
  (handle: RequestHandler, { noteRequest }: Pick<RecordsJobs, 'noteRequest'>): RequestHandler =>
  (request, response, context) => {
    if (!request.url?.startsWith(jobsPath)) noteRequest();
    return handle(request, response, context);
  };

/** Requests below the extension prefix go to their routes, all others to `handle`. */
const withExtensionRoutes =
  (handle: RequestHandler, extensions: ServedExtensions): RequestHandler =>
  (request, response, context) =>
    extensions.handle && request.url?.startsWith(extensionPath)
      ? extensions.handle(request, response, context)
      : handle(request, response, context);
