import { findPasswordProblem, hashPassword } from '@recordbus/crypto';
import { type Database, newId } from '@recordbus/database';
import { ConfigError } from '@recordbus/shared/config';
import type { Logger } from '@recordbus/shared/logging';
import { hasAdmin } from '../admin-sign-in/admins.ts';
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
 * Sees at start that there is a way in (contract §4, Admins). With no admin yet, the one that the configuration names
 * is made; without one the result is a new set-up token, of which only the hash is stored: whoever starts the service
 * shows it. Undefined once an admin exists. Throws ConfigError for a configured admin that can't be made.
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
  if (adminEmail === undefined) throw new ConfigError('SERVICE_ADMIN_EMAIL must be set beside SERVICE_ADMIN_PASSWORD.');
  if (adminPassword === undefined)
    throw new ConfigError('SERVICE_ADMIN_PASSWORD must be set beside SERVICE_ADMIN_EMAIL.');
  const problem = findPasswordProblem(adminPassword);
  if (problem) throw new ConfigError(`SERVICE_ADMIN_PASSWORD ${problem}.`);
  const passwordHash = await hashPassword(adminPassword);
  const admin = { id: newId(), email: adminEmail, passwordHash, tokenVersion: 0 };
  if (await insertFirstAdmin(database, admin, Math.floor(clock() / 1000), { context: 'system' }))
    log.info({ email: adminEmail }, 'made the first admin');
  return undefined;
}
