import { createValueCipher, type ValueCipher } from '@recordbus/crypto';
import { type Database, openDatabase } from '@recordbus/database';
import { startPart } from '@recordbus/process/lifecycle';
import { createSettings, type Settings } from '@recordbus/settings';
import type { CommandParts } from '../run-command.ts';
import { findServers } from './find-servers.ts';
import { holdCommandLock } from './hold-command-lock.ts';
import { openShortLivedBus, type ShortLivedBus } from './short-lived-bus.ts';

/** A deployment opened for a command. */
export interface Deployment {
  /** The database URL with the services' role. */
  readonly databaseUrl: string;
  readonly database: Database;
  readonly bus: ShortLivedBus;
  readonly settings: Settings;
  /** Encrypts and decrypts with the deployment's key. */
  readonly cipher: ValueCipher;
}

/**
 * Opens the deployment, under the command lock if the command must run alone. Runs missing migrations, as a start does.
 */
export async function openDeployment(parts: CommandParts, { isAlone = true } = {}): Promise<Deployment> {
  const { key, log, lifecycle } = parts;
  const { databaseUrl, natsUrl } = await findServers(parts);
  if (isAlone) await holdCommandLock(parts, databaseUrl);
  const database = await openDatabase({
    url: databaseUrl,
    name: `cli ${parts.name}`,
    log,
    as: 'admin',
    maxConnections: 2,
  });
  lifecycle.onStop('database', () => database.close());
  const bus = await openShortLivedBus(parts, natsUrl);
  const cipher = createValueCipher(key.text);
  const settings = await startPart(lifecycle, 'settings', createSettings({ database, bus, log, cipher }));
  return { databaseUrl, database, bus, settings, cipher };
}
