import type { Bus } from '@recordbus/bus';
import type { ValueCipher } from '@recordbus/crypto';
import { type Database, mapDatabaseError } from '@recordbus/database';
import { createDispatcher } from '@recordbus/http';
import type { Service } from '@recordbus/http/service';
import { createIdempotencyKeys } from '@recordbus/idempotency';
import { createNotifier } from '@recordbus/notifications';
import { createPasswordRules } from '@recordbus/passwords';
import type { Logger } from '@recordbus/process/logging';
import { findCaseCollation } from '@recordbus/query';
import type { CollectionCache } from '@recordbus/schema';
import { createFilteredClient, type Settings } from '@recordbus/settings';
import { createAuditRetention } from './audit/audit-retention.ts';
import { createDelayedEncryption } from './collections/delayed-encryption.ts';
import { createSearchBuilds } from './indexes/build-search-indexes.ts';
import { createSearchKeeping } from './indexes/keep-search-words.ts';
import { createBuiltFiles } from './pages/built-files.ts';
import { adminRoutes } from './routes/admins.ts';
import { auditRoutes } from './routes/audit.ts';
import { collectionRoutes } from './routes/collections.ts';
import { eventRoutes } from './routes/events.ts';
import { fieldRoutes } from './routes/fields.ts';
import { indexRoutes } from './routes/indexes.ts';
import { keyRoutes } from './routes/keys.ts';
import { notificationRoutes } from './routes/notifications.ts';
import { pageRoutes } from './routes/pages.ts';
import { polledEventRoutes } from './routes/polled-events.ts';
import { portalRoutes } from './routes/portal.ts';
import { savedViewRoutes } from './routes/saved-views.ts';
import { schemaRoutes } from './routes/schema.ts';
import { settingsRoutes } from './routes/settings.ts';
import { snapshotRoutes } from './routes/snapshots.ts';
import { viewRoutes } from './routes/views.ts';
import { webhookDeliveryRoutes } from './routes/webhook-deliveries.ts';
import { adminPlace, ownerPlace } from './routes/webhook-place.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { readonlyChanges } from './schema/readonly-changes.ts';
import { createSchemaChanges } from './schema/schema-changes.ts';
import { createKeyWatch } from './settings/key-watch.ts';
import { createUpdateChecker } from './update-check/update-checker.ts';
import { parseSql } from './views/sql-parser.ts';

export { addAdmin, resetAdmin, takeAdmin } from './admins/change-admins.ts';
export { changeKey, createKey, deleteKey, listAllKeys } from './keys/change-keys.ts';
export { newKey } from './keys/key-schema.ts';
export { openAnalystSchema, rebuildAnalystViews } from './schema/analyst-views.ts';
export type { Change, Lock } from './schema-files/change.ts';
export { applySchemaFiles, planSchemaFiles, readSchemaFiles } from './schema-files/without-routes.ts';
export { applySnapshotDocument, exportSnapshot } from './snapshots/snapshots.ts';

export interface AdminDeps {
  readonly log: Logger;
  readonly database: Database;
  readonly bus: Bus;
  /** The raw bytes of the secret that signs tokens. The keys for stored idempotent answers are derived from it. */
  readonly secret: Uint8Array;
  /** The process's copy, loaded before the service starts and stopped after it. */
  readonly settings: Settings;
  /** The process's copy of the collections, loaded before the service starts and stopped after it. */
  readonly collections: CollectionCache;
  /** Encrypts secret settings. */
  readonly cipher: ValueCipher;
  readonly config: {
    /** Base URL for the service that lists breached passwords. */
    readonly breachServiceUrl: string;
    /** Base URLs for the push notification providers. */
    readonly onesignalUrl: string;
    readonly fcmUrl: string;
    /** URL for the latest release. */
    readonly releaseUrl: string;
    /** Whether collections change only by schema files. */
    readonly schemaMode: 'open' | 'readonly';
    /** Directory with the built admin pages. */
    readonly pagesDirectory?: string | undefined;
  };
  /** The time in milliseconds. */
  readonly clock?: () => number;
}

/** Creates the admin service: collections with their tables, admins, settings, webhooks and their delivery log. */
export function createAdmin(deps: AdminDeps): Service {
  const { log, database, bus, secret, settings, collections, cipher, config, clock = Date.now } = deps;
  const nowSec = () => Math.floor(clock() / 1000);
  const passwords = createPasswordRules({ settings, log, breachServiceUrl: config.breachServiceUrl });
  const client = createFilteredClient(settings);
  const notifier = createNotifier({ settings, client, urls: config });
  const background = database.of('background');
  const delayedEncryption = createDelayedEncryption({ database: background, cipher, log, nowSec });
  const onChanged = () => {
    delayedEncryption.wake();
    searchBuilds.wake();
  };
  const changes = createSchemaChanges({ database, bus, cipher, onChanged });
  const searchBuilds = createSearchBuilds({ database: background, changes, log });
  const searchKeeping = createSearchKeeping({ database: background, log });
  const openChanges = config.schemaMode === 'readonly' ? readonlyChanges : changes;
  const retention = createAuditRetention({ database: background, settings, log });
  const keyWatch = createKeyWatch({ query: background.query, cipher, log });
  const { releaseUrl } = config;
  const updateChecker = createUpdateChecker({ database, bus, cipher, settings, log, releaseUrl, clock });
  let collation: string | undefined;
  const places = [adminPlace, ownerPlace({ query: database.query, collections, settings })];
  const routes = [
    ...collectionRoutes({ database, changes: openChanges, nowSec }),
    ...fieldRoutes({ database, changes: openChanges, nowSec }),
    ...indexRoutes({ database, changes: openChanges }),
    ...snapshotRoutes({ database, changes: openChanges, nowSec }),
    ...schemaRoutes({ database, bus, cipher, changes, nowSec }),
    ...auditRoutes({ database }),
    ...adminRoutes({ database, bus, passwords, nowSec }),
    ...keyRoutes({ database, bus, nowSec }),
    ...settingsRoutes({ database, bus, cipher, settings }),
    ...portalRoutes({ database, owners: { collections, settings } }),
    ...polledEventRoutes({ query: database.query, collections, settings, collation: () => collation }),
    ...places.flatMap((place) => [
      ...webhookRoutes({ database, bus, owners: { collections, settings } }, place),
      ...webhookDeliveryRoutes({ database, bus }, place),
    ]),
    ...notificationRoutes({ settings, notifier }),
    ...viewRoutes({ database }),
    ...savedViewRoutes({ database, nowSec }),
    ...eventRoutes({ database }),
    ...pageRoutes({
      read: createBuiltFiles(config.pagesDirectory),
      audience: () => settings.get('openapi.audience'),
      filesHost: () => settings.get('files.host'),
      portalFrames: () => settings.get('webhooks.portal_frames'),
    }),
  ];
  return {
    name: 'admin',
    routes,
    handle: createDispatcher(routes, {
      log,
      mapError: mapDatabaseError,
      idempotency: createIdempotencyKeys({ database, removeOn: database.of('background'), log, secret }),
      compresses: () => settings.get('http.compression'),
    }),
    checks: {
      database: () => database.ping(),
      bus: () => bus.ping(),
      encryption: async () => keyWatch.findProblem(),
    },
    // Replicas poll for changes when the bus does not announce them.
    dispensable: new Set(['bus']),
    async start() {
      collation = await findCaseCollation(database.query);
      retention.start();
      searchBuilds.start();
      searchKeeping.start();
      updateChecker.start();
      keyWatch.start();
    },
    async warm() {
      await client.warm();
      await parseSql('select 1');
    },
    async stop() {
      await searchBuilds.stop();
      await searchKeeping.stop();
      await keyWatch.stop();
      await updateChecker.stop();
      await retention.stop();
      await delayedEncryption.stop();
      await client.close();
    },
  };
}
