import type { AccountHooks, HookedCollections } from '@recordbus/accounts';
import type { Bus, ErasedRecords, EventStream } from '@recordbus/bus';
import type { ValueCipher } from '@recordbus/crypto';
import type { Database, Query } from '@recordbus/database';
import type { EgressClient } from '@recordbus/egress';
import {
  createExtensionHost,
  type EventDescription,
  type ExtensionHost,
  type ExtensionsConfig,
} from '@recordbus/extension-host';
import type { Route } from '@recordbus/http';
import { createNotifier, type NotifierDeps } from '@recordbus/notifications';
import { type BackgroundTask, every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { createFilteredClient, type Settings } from '@recordbus/settings';
import { removeOldRuns } from '../crons/cron-runs.ts';
import type { Downloads } from '../files/downloads.ts';
import type { RunWrite } from '../write/write-unit.ts';
import { createWithTransactions } from './call-transactions.ts';
import { createScheduler, type Scheduler } from './crons/scheduler.ts';
import { createAfterHooks } from './hooks/after-hooks.ts';
import { type BeforeHooks, createBeforeHooks } from './hooks/before-hooks.ts';
import { hookedCollectionsOf } from './hooks/collections-with-hooks.ts';
import { createSignInHooks } from './hooks/sign-in-hooks.ts';
import type { JobMetrics } from './jobs/job-metrics.ts';
import { createJobRunners, type JobRunners } from './jobs/job-runners.ts';
import { createPendingLimit } from './jobs/pending-limit.ts';
import { removeOldExtensionJobs } from './jobs/remove-old-jobs.ts';
import { extensionRoutes } from './routes/extension-routes.ts';
import { type BatchToolDeps, batchTools } from './tools/batch-tool.ts';
import { dispatchTools } from './tools/dispatch-tool.ts';
import { removeExpiredValues } from './tools/extension-values.ts';
import { fetchTools } from './tools/fetch-tool.ts';
import { jobsTools } from './tools/jobs-tools.ts';
import { kvTools } from './tools/kv-tools.ts';
import { mailTools } from './tools/mail-tool.ts';
import { notificationTools } from './tools/notification-tool.ts';
import { putTools } from './tools/put-tools.ts';
import { recordsTools } from './tools/records-tools.ts';
import { settingsTools } from './tools/settings-tool.ts';
import { createToolbox, type MapError, type Toolbox } from './tools/toolbox.ts';

const housekeepingIntervalMs = 600_000;

/** The loaded extensions. */
export interface Extensions {
  readonly beforeHooks: BeforeHooks;
  readonly beforeSignIn: AccountHooks['beforeSignIn'];
  /** The current ones; they change with the extensions. */
  readonly hookedCollections: HookedCollections;
  /** The events that the extensions declare now. */
  readonly customEvents: readonly EventDescription[];
  /** The extensions that take mails, now. */
  readonly mailTakers: readonly string[];
  readonly scheduler: Pick<Scheduler, 'crons' | 'runNow'>;
  /** The current ones; they change with the extensions. */
  readonly routes: readonly Route[];
  onChange(listener: () => void): void;
  stop(): Promise<void>;
}

export interface ExtensionsDeps {
  readonly config: ExtensionsConfig;
  readonly records: Omit<BatchToolDeps, 'beforeHooks' | 'database'> & {
    /** Reads attachments. */
    readonly downloads: Downloads;
    /** Writes by jobs' code. */
    readonly writeInJobs: RunWrite;
    /** Writes about jobs. */
    readonly writeInBackground: RunWrite;
  };
  readonly database: Database;
  /** Maps database errors to a call's refusals. */
  readonly mapError: MapError;
  readonly settings: Settings;
  /** Encrypts mails that wait. */
  readonly cipher: ValueCipher;
  readonly bus: Bus;
  readonly stream: EventStream;
  readonly erased: Pick<ErasedRecords, 'isErased' | 'refresh'>;
  readonly jobMetrics: JobMetrics;
  /** The push notification providers' URLs. */
  readonly urls: NotifierDeps['urls'];
  readonly log: Logger;
}

/** Loads and starts the directory's extensions. The settings must be loaded before. */
export async function startExtensions(deps: ExtensionsDeps): Promise<Extensions> {
  const { config, records, database, settings, bus, stream, log } = deps;
  const { query } = database;
  const { write, schema } = records;
  const host = createExtensionHost({ ...config, log });
  const client = createFilteredClient(settings);
  const { toolbox, jobToolbox, beforeHooks } = createToolsAndHooks(deps, host, client);
  const withTransactions = createWithTransactions({ toolbox, write });
  const readRoutes = () => extensionRoutes({ host, withTransactions, query, schema, log });
  const afterHooks = createAfterHooks({ host, toolbox, bus, stream, query, erased: deps.erased, log });
  const scheduler = createScheduler({ host, withTransactions, database, log });
  const jobRunners = createRunners(deps, host, jobToolbox);
  await host.start();
  let routes = readRoutes();
  let hookedCollections = hookedCollectionsOf(host.extensions);
  void afterHooks.renew();
  scheduler.renew();
  jobRunners.renew();
  const housekeeping = createHousekeeping(query, settings, log);
  housekeeping.start();
  host.onChange(() => {
    routes = readRoutes();
    hookedCollections = hookedCollectionsOf(host.extensions);
    void afterHooks.renew();
    scheduler.renew();
    jobRunners.renew();
  });
  return {
    beforeHooks,
    beforeSignIn: createSignInHooks(host, toolbox),
    get hookedCollections() {
      return hookedCollections;
    },
    get customEvents() {
      return host.extensions.flatMap(({ description }) => description.events);
    },
    get mailTakers() {
      return host.extensions
        .filter(({ description }) => description.jobs.some(({ takesMails }) => takesMails))
        .map(({ name }) => name);
    },
    scheduler,
    get routes() {
      return routes;
    },
    onChange: host.onChange,
    async stop() {
      await housekeeping.stop();
      scheduler.stop();
      await Promise.all([afterHooks.stop(), jobRunners.stop()]);
      await host.stop();
      await client.close();
    },
  };
}

/** Creates the runners of the extensions' jobs. Their transactions take no places of requests' hooks. */
function createRunners(deps: ExtensionsDeps, host: ExtensionHost, toolbox: Toolbox): JobRunners {
  const { config, records, database, bus, cipher, jobMetrics, log } = deps;
  const background = database.of('background');
  return createJobRunners({
    host,
    withTransactions: createWithTransactions({ toolbox, write: records.writeInJobs }),
    database: background,
    write: records.writeInBackground,
    cipher,
    bus,
    maxRunning: config.maxJobWorkers,
    metrics: jobMetrics,
    log,
  });
}

interface ToolsAndHooks {
  readonly toolbox: Toolbox;
  /** The same tools for jobs. */
  readonly jobToolbox: Toolbox;
  readonly beforeHooks: BeforeHooks;
}

/**
 * Creates the tools and the before hooks. They depend on each other: tools write, writes run hooks, and hooks use
 * tools.
 */
function createToolsAndHooks(deps: ExtensionsDeps, host: ExtensionHost, client: EgressClient): ToolsAndHooks {
  const { records, database, mapError, settings, cipher, urls } = deps;
  const { schema } = records;
  const toolbox: Toolbox = (extension, scope) => tools(extension, scope);
  const beforeHooks = createBeforeHooks({ host, toolbox });
  const notifier = createNotifier({ settings, client, urls });
  const checkRoom = createPendingLimit(database.query, () => settings.get('jobs.max_pending'));
  const toolsWith = (write: RunWrite): Toolbox =>
    createToolbox(
      {
        ...recordsTools({ ...records, write, database, beforeHooks }),
        ...putTools({ ...records, write, database, beforeHooks }),
        ...batchTools({ ...records, write, database, beforeHooks }),
        ...dispatchTools({ write, schema }),
        ...fetchTools(client),
        ...jobsTools({ host, write, checkRoom }),
        ...kvTools(database.query),
        ...mailTools({ ...records, write, database, beforeHooks, settings, cipher }),
        ...notificationTools(notifier),
        ...settingsTools(settings),
      },
      mapError,
    );
  const tools = toolsWith(records.write);
  return { toolbox, jobToolbox: toolsWith(records.writeInJobs), beforeHooks };
}

/** Creates the background task that removes expired values, old runs and old jobs. Every replica runs it. */
const createHousekeeping = (query: Query, settings: Settings, log: Logger): BackgroundTask =>
  every({
    name: "remove extensions' expired values, old runs and old jobs",
    log,
    intervalMs: housekeepingIntervalMs,
    firstAfterMs: housekeepingIntervalMs,
    async run() {
      const days = settings.get('jobs.retention_days');
      await Promise.all([removeExpiredValues(query), removeOldRuns(query), removeOldExtensionJobs(query, days)]);
    },
  });
