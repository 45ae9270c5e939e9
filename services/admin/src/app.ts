import type { Bus } from '@recordbus/bus';
import type { Envelope } from '@recordbus/crypto';
import { type Database, mapDatabaseError } from '@recordbus/database';
import { createIdempotencyKeys } from '@recordbus/idempotency';
import { createNotifier } from '@recordbus/notifications';
import { createPasswordRules } from '@recordbus/passwords';
import { createFilteredClient, createSettings } from '@recordbus/settings';
import { createDispatcher } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import type { Service } from '@recordbus/shared/service';
import { createAuditRetention } from './audit/audit-retention.ts';
import { createLateSealing } from './collections/late-sealing.ts';
import { createSchemaChanges } from './collections/schema-changes.ts';
import { adminRoutes } from './routes/admins.ts';
import { auditRoutes } from './routes/audit.ts';
import { collectionRoutes } from './routes/collections.ts';
import { eventRoutes } from './routes/events.ts';
import { indexRoutes } from './routes/indexes.ts';
import { notificationRoutes } from './routes/notifications.ts';
import { settingsRoutes } from './routes/settings.ts';
import { snapshotRoutes } from './routes/snapshots.ts';
import { webhookDeliveryRoutes } from './routes/webhook-deliveries.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { createUpdateChecker } from './update-check/update-checker.ts';

export { addAdmin, resetAdmin } from './admins/change-admins.ts';
export { applySnapshotDocument, exportSnapshot } from './snapshots/snapshots.ts';

export interface AdminDeps {
  readonly log: Logger;
  readonly database: Database;
  readonly bus: Bus;
  /** Raw bytes of the secret that signs tokens; from it come the keys of what is kept for idempotency. */
  readonly secret: Uint8Array;
  /** Seals secret settings. */
  readonly envelope: Envelope;
  readonly config: {
    /** Where breached passwords are asked for. */
    readonly breachServiceUrl: string;
    /** Where push notification providers are asked. */
    readonly onesignalUrl: string;
    readonly fcmUrl: string;
    /** The release host. */
    readonly releaseUrl: string;
  };
  /** The time in milliseconds. */
  readonly clock?: () => number;
}

/** The admin service: collections with their tables, admins, settings, webhooks and what became of their deliveries. */
export function createAdmin({ log, database, bus, secret, envelope, config, clock = Date.now }: AdminDeps): Service {
  const nowSec = () => Math.floor(clock() / 1000);
  const settings = createSettings({ database, bus, log, envelope });
  const passwords = createPasswordRules({ settings, log, breachServiceUrl: config.breachServiceUrl });
  const client = createFilteredClient(settings);
  const notifier = createNotifier({ settings, client, urls: config });
  const lateSealing = createLateSealing({ database, envelope, log, nowSec });
  const changes = createSchemaChanges({ database, bus, envelope, onChanged: lateSealing.wake });
  const retention = createAuditRetention({ database, settings, log });
  const { releaseUrl } = config;
  const updateChecker = createUpdateChecker({ database, bus, envelope, settings, log, releaseUrl, clock });
  const routes = [
    ...collectionRoutes({ database, changes, nowSec }),
    ...indexRoutes({ database, changes }),
    ...snapshotRoutes({ database, changes, nowSec }),
    ...auditRoutes({ database }),
    ...adminRoutes({ database, bus, passwords, nowSec }),
    ...settingsRoutes({ database, bus, envelope, settings }),
    ...webhookRoutes({ database, bus }),
    ...webhookDeliveryRoutes({ database, bus }),
    ...notificationRoutes({ settings, notifier }),
    ...eventRoutes({ database }),
  ];
  return {
    name: 'admin',
    routes,
    handle: createDispatcher(routes, {
      log,
      mapError: mapDatabaseError,
      idempotency: createIdempotencyKeys({ database, log, secret }),
    }),
    checks: { database: () => database.ping(), bus: () => bus.ping() },
    // Replicas that the bus does not tell of a change look for themselves.
    dispensable: new Set(['bus']),
    async start() {
      await settings.start();
      retention.start();
      updateChecker.start();
    },
    async stop() {
      await updateChecker.stop();
      await retention.stop();
      await lateSealing.stop();
      await client.close();
      await settings.stop();
    },
  };
}
