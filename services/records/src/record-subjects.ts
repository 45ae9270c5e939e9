import type { AccountRules } from '@recordbus/accounts';
import { type Captchas, createCaptchas } from '@recordbus/captcha';
import type { EgressClient } from '@recordbus/egress';
import { createGuessLimit, createPasswordRules } from '@recordbus/passwords';
import { createFieldEncryption } from '@recordbus/schema';
import { createFileTokens } from '@recordbus/tokens';
import { createOperationLimits } from './batch/operation-limits.ts';
import { createReferrers } from './delete/referrers.ts';
import { createEraseOwnAccount } from './erasure/erase-own-account.ts';
import { createDownloadTokens } from './files/download-tokens.ts';
import { createDownloads, type Downloads } from './files/downloads.ts';
import { createFindLostFiles } from './history/find-lost-files.ts';
import { createRecordReads } from './read/record-reads.ts';
import { createServedCollections } from './record/served-collections.ts';
import type { RecordsDeps } from './records-deps.ts';
import type { RecordsParts } from './records-parts.ts';
import type { RouteDeps } from './routes/route-deps.ts';
import { createExportReads } from './transfer/export/export-reads.ts';
import { createSearchVectors } from './vector/search-vectors.ts';
import { createVectorRanking } from './vector/vector-ranking.ts';
import type { WriteHooks } from './write/write-hooks.ts';
import { createRunWrite, type RunWrite } from './write/write-unit.ts';

/** How large a multipart body may be by default (files §3.5). */
const defaultMaxUploadBytes = 100 * 1024 * 1024;

/** How many transactions of extensions' jobs hold a connection at once, and how long others wait. */
const jobTransactions = { width: 2, maxWaitMs: 30_000 };

/** What the routes, the account routes, the extensions' tools and the jobs share. */
export interface RecordSubjects extends RouteDeps {
  /** Writes by extensions' jobs: their transactions take no places of requests' hooks. */
  readonly writeInJobs: RunWrite;
  /** Jobs' writes, on the background work's connections. */
  readonly writeInBackground: RunWrite;
}

/** Creates what the routes, the account routes and the extensions' tools depend on. */
export function createRecordSubjects(
  given: RecordsDeps,
  parts: RecordsParts,
  hooks: WriteHooks,
  client: EgressClient,
): RecordSubjects {
  const { log, database, bus, cipher, storage } = given;
  const { settings, cache, schema, relay, removals } = parts;
  const reads = createRecordReads(database, settings);
  const encryption = createFieldEncryption({ cipher, log });
  const ranking = createVectorRanking(reads, given.vectorMemoryBytes);
  const afterCommit = {
    wakeRelay: relay.wake,
    sweepFiles: removals.wake,
    notifyGateways: () => bus.notify('accounts'),
    sendMails: () => bus.notify('mail'),
    startJobs: () => bus.notify('extension-jobs'),
    startErasures: () => {
      // Readers of the stream skip the records at once, before the job cleans the places.
      bus.notify('erasures');
      bus.notify('jobs');
    },
  };
  return {
    database,
    write: createRunWrite({ database, relaxed: database.of('relaxedWrites'), afterCommit }),
    writeInJobs: createRunWrite({
      database,
      relaxed: database.of('relaxedWrites'),
      afterCommit,
      limits: jobTransactions,
    }),
    writeInBackground: createRunWrite({ database: database.of('background'), afterCommit }),
    hooks,
    collections: createServedCollections(cache, settings),
    schema,
    encryption,
    reads,
    exports: createExportReads(database, settings),
    vectorRanking: ranking,
    searchVectors: createSearchVectors({ ranking, reads, encryption }),
    findReferrers: createReferrers(cache.all),
    eraseOwnAccount: createEraseOwnAccount(cache.all),
    findLostFiles: createFindLostFiles(storage),
    storage,
    removals,
    downloads: openDownloads(given, parts),
    maxUploadBytes: given.config.maxUploadBytes ?? defaultMaxUploadBytes,
    operationLimits: createOperationLimits({ query: database.query, settings }),
    maxBatchOperations: () => settings.get('batch.max_operations'),
    ...createAccountRules(given, parts, client),
  };
}

function openDownloads({ database, storage, log, secret }: RecordsDeps, parts: RecordsParts): Downloads {
  const { query } = database;
  const tokens = createDownloadTokens({
    query,
    findCollection: parts.cache.find,
    tokens: createFileTokens(secret),
    windowSec: () => parts.settings.get('auth.file.window_seconds'),
  });
  const hasOwnHost = () => parts.settings.get('files.host') !== undefined;
  return createDownloads({ query, storage, log, tokens, hasOwnHost, ...parts });
}

function createAccountRules(
  { database, log, config, secret }: RecordsDeps,
  { settings }: RecordsParts,
  client: EgressClient,
): AccountRules & { readonly captchas: Captchas } {
  const nowSec = () => Math.floor(Date.now() / 1000);
  return {
    guessLimit: createGuessLimit({ database, nowSec }),
    captchas: createCaptchas({ settings, database, client, log, secret, nowSec }),
    nowSec,
    passwords: createPasswordRules({ settings, log, breachServiceUrl: config.breachServiceUrl }),
  };
}
