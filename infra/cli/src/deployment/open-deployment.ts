import { createEnvelope, type Envelope } from '@recordbus/crypto';
import { type Database, openDatabase } from '@recordbus/database';
import { createSettings, type Settings } from '@recordbus/settings';
import type { CommandParts } from '../run-command.ts';
import { findServers } from './find-servers.ts';
import { holdCommandLock } from './hold-command-lock.ts';
import { openShortLivedBus, type ShortLivedBus } from './short-lived-bus.ts';

/** A deployment that a command may change. */
export interface Deployment {
  readonly database: Database;
  readonly bus: ShortLivedBus;
  readonly settings: Settings;
  /** Seals and opens under SERVICE_ENCRYPTION_KEY. */
  readonly envelope: Envelope;
}

/** Opens the deployment for one command at a time; its tables are brought up to date as at a start. */
export async function openDeployment(parts: CommandParts): Promise<Deployment> {
  const { config, log, lifecycle } = parts;
  const { databaseUrl, natsUrl } = await findServers(parts);
  await holdCommandLock(parts, databaseUrl);
  const database = await openDatabase({
    url: databaseUrl,
    name: `cli ${parts.name}`,
    log,
    poolSize: 2,
    readConnections: 1,
  });
  lifecycle.onStop('database', () => database.close());
  const bus = await openShortLivedBus(parts, natsUrl);
  const envelope = createEnvelope(config.encryptionKey);
  const settings = createSettings({ database, bus, log, envelope });
  lifecycle.onStop('settings', () => settings.stop());
  await settings.start();
  return { database, bus, settings, envelope };
}
