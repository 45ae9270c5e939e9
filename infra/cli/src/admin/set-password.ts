import { addAdmin, resetAdmin as resetPassword } from '@recordbus/admin';
import { liftLockout } from '@recordbus/auth';
import { createPasswordRules } from '@recordbus/passwords';
import { accountAddress } from '@recordbus/schema';
import { CommandFailure } from '@recordbus/stack-calls';
import { cliActor } from '../cli-actor.ts';
import { openDeployment } from '../deployment/open-deployment.ts';
import { readSecret } from '../read-secret.ts';
import type { CommandParts, CommonOptions } from '../run-command.ts';

export interface AdminOptions extends CommonOptions {
  readonly passwordStdin?: boolean;
}

/** Creates an admin. Throws the API's errors, and CommandFailure for an invalid address. */
export async function createAdmin(parts: CommandParts, email: string, options: AdminOptions): Promise<undefined> {
  const { database, passwords, credentials } = await openWithCredentials(parts, readAddress(email), options);
  const { id } = await addAdmin(database, passwords, credentials, nowSec(), cliActor);
  parts.terminal.report({ id, email: credentials.email }, `${credentials.email} is an admin now.`);
}

/** Resets an admin's password and lifts the address's lockout. Throws the same errors as `createAdmin`. */
export async function resetAdmin(parts: CommandParts, email: string, options: AdminOptions): Promise<undefined> {
  // Admins from earlier versions may have an address that is no longer accepted for new ones.
  const { database, bus, passwords, credentials } = await openWithCredentials(parts, email.trim(), options);
  const { id } = await resetPassword(database, passwords, credentials, nowSec(), cliActor);
  await liftLockout(database.query, { realm: 'admins', email: credentials.email });
  bus.notify('accounts');
  parts.terminal.report(
    { id, email: credentials.email },
    `${credentials.email} has a new password; earlier tokens are no longer valid.`,
  );
}

function readAddress(given: string): string {
  const read = accountAddress.safeParse(given);
  if (!read.success) throw new CommandFailure(`The address ${read.error.issues[0]?.message}.`);
  return read.data;
}

async function openWithCredentials(parts: CommandParts, email: string, { passwordStdin = false }: AdminOptions) {
  const { config, log } = parts;
  const password = await readSecret({
    what: 'password',
    flag: '--password-stdin',
    fromStdin: passwordStdin,
    fromEnvironment: config.adminPassword,
    variable: 'SERVICE_ADMIN_PASSWORD',
  });
  const deployment = await openDeployment(parts);
  const passwords = createPasswordRules({
    settings: deployment.settings,
    log,
    breachServiceUrl: config.breachServiceUrl,
  });
  return { ...deployment, passwords, credentials: { email, password } };
}

const nowSec = (): number => Math.floor(Date.now() / 1000);
