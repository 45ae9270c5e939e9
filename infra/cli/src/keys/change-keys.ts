import { createKey, deleteKey, listAllKeys, newKey } from '@recordbus/admin';
import { validationFailed } from '@recordbus/errors';
import { describeIssues } from '@recordbus/errors/describe-issues';
import { CommandFailure } from '@recordbus/stack-calls';
import { cliActor } from '../cli-actor.ts';
import { openDeployment } from '../deployment/open-deployment.ts';
import type { CommandParts, CommonOptions } from '../run-command.ts';

export interface CreateOptions extends CommonOptions {
  readonly scope: readonly string[];
  readonly expiresIn?: string;
  readonly cidr?: readonly string[];
  readonly rateLabel?: string;
}

const daySec = 86_400;

/** Creates a key and writes it. Throws the API's refusals, and CommandFailure for an invalid number of days. */
export async function create(parts: CommandParts, name: string, options: CreateOptions): Promise<undefined> {
  const { scope: scopes, cidr: allowed_cidrs, rateLabel: rate_label } = options;
  const given = { name, scopes, allowed_cidrs, rate_label, expires_at: endOf(options.expiresIn) };
  const read = newKey.safeParse(given);
  if (!read.success) throw validationFailed(describeIssues(read.error, given));
  const { database, bus } = await openDeployment(parts);
  const made = await createKey(database, read.data, nowSec(), cliActor);
  bus.notify('accounts');
  parts.terminal.report(made, made.key);
}

/** Lists all keys. */
export async function list(parts: CommandParts): Promise<undefined> {
  const { database } = await openDeployment(parts);
  const keys = await listAllKeys(database.query);
  const lines = keys.map(({ prefix, name, scopes, expires_at: end, last_used_at: used }) =>
    [
      prefix,
      name,
      scopes.join(' '),
      end === null ? 'no end' : `ends ${timeOf(end)}`,
      used === null ? 'never used' : `used ${timeOf(used)}`,
    ].join('  '),
  );
  parts.terminal.report(keys, lines.length > 0 ? lines.join('\n') : 'There are no service keys.');
}

/** Revokes a key. Throws the API's 404. */
export async function revoke(parts: CommandParts, given: string): Promise<undefined> {
  const { database, bus } = await openDeployment(parts);
  const { id, name } = await deleteKey(database, given.replace(/^rbk_/, ''), cliActor);
  bus.notify('accounts');
  parts.terminal.report({ id, name }, `The key ${name} is revoked.`);
}

function endOf(days: string | undefined): number | undefined {
  if (days === undefined) return undefined;
  if (!/^\d{1,6}$/.test(days) || Number(days) === 0)
    throw new CommandFailure('--expires-in must be a whole number of days, at least 1.');
  return nowSec() + Number(days) * daySec;
}

const timeOf = (sec: number): string => new Date(sec * 1000).toISOString();

const nowSec = (): number => Math.floor(Date.now() / 1000);
