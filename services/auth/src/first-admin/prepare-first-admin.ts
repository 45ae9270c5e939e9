import { findPasswordProblem, hashPassword } from '@recordbus/crypto';
import { type Database, newId } from '@recordbus/database';
import { ConfigError } from '@recordbus/process/config';
import type { Logger } from '@recordbus/process/logging';
import { hasAdmin } from '../users/admins.ts';
import { insertFirstAdmin, insertSetupToken } from './first-admins.ts';
import { hashSetupToken, newSetupToken } from './setup-token.ts';

interface FirstAdminOptions {
  readonly database: Database;
  readonly log: Logger;
  readonly config: { readonly adminEmail?: string | undefined; readonly adminPassword?: string | undefined };
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

/**
 * Prepares the first admin at start (admins §1). Without an admin it creates the configured one, or returns a new
 * set-up token for the caller to show; only the token's hash is stored. Returns undefined once an admin exists. Throws
 * ConfigError for a configured admin that cannot be created.
 */
export async function prepareFirstAdmin(options: FirstAdminOptions): Promise<string | undefined> {
  const { database, config, log, clock = Date.now } = options;
  if (await hasAdmin(database.query)) return undefined;
  const { adminEmail, adminPassword } = config;
  if (adminEmail === undefined && adminPassword === undefined) {
    const token = newSetupToken();
    await insertSetupToken(database.query, hashSetupToken(token), clock());
    return token;
  }
  if (adminEmail === undefined) throw new ConfigError('SERVICE_ADMIN_EMAIL must be set with SERVICE_ADMIN_PASSWORD.');
  if (adminPassword === undefined)
    throw new ConfigError('SERVICE_ADMIN_PASSWORD must be set with SERVICE_ADMIN_EMAIL.');
  const problem = findPasswordProblem(adminPassword);
  if (problem) throw new ConfigError(`SERVICE_ADMIN_PASSWORD ${problem}.`);
  const passwordHash = await hashPassword(adminPassword);
  const admin = { id: newId(), email: adminEmail, passwordHash, tokenVersion: 0, totpEnabled: false };
  if (await insertFirstAdmin(database, admin, Math.floor(clock() / 1000), { context: 'system' }))
    log.info({ email: adminEmail }, 'first admin created');
  return undefined;
}
