import { keyFileOf } from '@recordbus/crypto';
import { messageOf } from '@recordbus/errors';
import { registry } from '@recordbus/settings';
import type pg from 'pg';
import { connectClient } from '../deployment/connect-client.ts';
import { findServers } from '../deployment/find-servers.ts';
import { connectForCommand } from '../deployment/short-lived-bus.ts';
import { findTableVersion } from '../deployment/table-version.ts';
import { exitCodes } from '../exit-codes.ts';
import type { CommandParts, CommonOptions } from '../run-command.ts';
import { examineAccounts } from './examine-accounts.ts';
import { busUnreachable, examineBus } from './examine-bus.ts';
import { examineCaptchas } from './examine-captchas.ts';
import { examineClocks } from './examine-clocks.ts';
import { examineBloat, examineOutbox, examineReplicas, examineServer, examineTables } from './examine-database.ts';
import { examineDurability } from './examine-durability.ts';
import { examineEncryptedValues } from './examine-encrypted-values.ts';
import { examineEncryption } from './examine-encryption.ts';
import { examineExtensions } from './examine-extensions.ts';
import { examineJobs } from './examine-jobs.ts';
import { examineDisk, examineNode, examineTokenSecret } from './examine-machine.ts';
import { examineReadReplicas } from './examine-read-replicas.ts';
import { examineRoles } from './examine-roles.ts';
import { examineRules } from './examine-rules.ts';
import { examineSearch } from './examine-search.ts';
import { examineSecondFactors } from './examine-second-factors.ts';
import { examineStorage } from './examine-storage.ts';
import { broken, examine, type Finding } from './finding.ts';
import { openSettings } from './open-settings.ts';
import { presentFindings } from './present-findings.ts';

export interface DoctorOptions extends CommonOptions {
  /** Free space that the data disk must have, in GiB. */
  readonly minFree?: number;
}

/** Runs all examinations and reports the findings. Returns the exit code. */
export async function runDoctor(parts: CommandParts, { minFree }: DoctorOptions): Promise<number> {
  const { config, terminal } = parts;
  const findings = [
    ...(await examine('Node', examineNode)),
    ...(await examine('disk', () => examineDisk(config, minFree))),
    ...(await examine('token secret', () => examineTokenSecret(config))),
    ...(await examine('files', () => examineStorage(config))),
    ...(await examine('extensions', () => examineExtensions(config))),
    ...(await examineServers(parts)),
  ];
  const isBroken = findings.some(({ verdict }) => verdict === 'broken');
  terminal.report({ broken: isBroken, findings }, presentFindings(findings));
  return isBroken ? exitCodes.failed : exitCodes.done;
}

async function examineServers(parts: CommandParts): Promise<Finding[]> {
  const { name, config, lifecycle } = parts;
  let client: pg.Client | undefined;
  let natsUrl = config.natsUrl;
  let databaseFailure: Finding[] = [];
  try {
    const servers = await findServers(parts, { bus: true });
    natsUrl = servers.natsUrl;
    client = await connectClient(name, servers.databaseUrl);
  } catch (error) {
    const reason = messageOf(error);
    databaseFailure = [broken('PostgreSQL', reason, 'Check the server and SERVICE_DATABASE_URL.')];
  }
  const bus = natsUrl === undefined ? undefined : await connectForCommand(parts, natsUrl);
  const busFindings = bus?.connected
    ? await examine('NATS', async () => examineBus(bus, client ? await findKeptFor(client) : []))
    : [busUnreachable(natsUrl)];
  if (!client) return [...databaseFailure, ...busFindings];
  const connection = client;
  lifecycle.onStop('database', () => connection.end());
  return [
    ...(await examineDatabase(connection, parts)),
    ...busFindings,
    ...(await examine('clock', () => examineClocks(connection, bus?.connected ? bus : undefined))),
  ];
}

/** Returns the consumers that the setting `events.kept_for` names; none when there are no tables yet. */
async function findKeptFor(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client
    .query<{ value: string }>("select value from system.settings where key = 'events.kept_for'")
    .catch(() => ({ rows: [] }));
  const named = registry['events.kept_for'].schema.safeParse(rows[0]?.value ?? '');
  return named.success ? named.data : [];
}

async function examineSignIn(client: pg.Client, parts: CommandParts): Promise<Finding[]> {
  const settings = await openSettings(client, parts);
  return [
    ...(await examine('captchas', () => examineCaptchas(settings))),
    ...(await examine('second factors', async () => examineSecondFactors(settings))),
  ];
}

async function examineDatabase(client: pg.Client, parts: CommandParts): Promise<Finding[]> {
  const { config, key } = parts;
  await client.query("set statement_timeout = '10s'; set default_transaction_read_only = on");
  const version = await findTableVersion(client);
  const databaseFindings = [...(await examine('PostgreSQL', () => examineServer(client))), examineTables(version)];
  if (version)
    databaseFindings.push(
      ...(await examine('database role', () => examineRoles(client))),
      ...(await examine('dead rows', () => examineBloat(client))),
      ...(await examine('encryption key', () => examineEncryption(client, key, keyFileOf(config.dataDirectory)))),
      ...(await examine('encrypted values', () => examineEncryptedValues(client, key.text))),
      ...(await examine('rules', () => examineRules(client))),
      ...(await examine('accounts', () => examineAccounts(client))),
      ...(await examine('durability', () => examineDurability(client))),
      ...(await examine('outbox', () => examineOutbox(client))),
      ...(await examine('jobs', () => examineJobs(client))),
      ...(await examine('search indexes', () => examineSearch(client))),
      ...(await examine('sign-in', () => examineSignIn(client, parts))),
      ...(await examine('services', () => examineReplicas(client))),
      ...(await examine('read replica', () => examineReadReplicas(client, config.databaseReplicaUrls ?? []))),
    );
  return databaseFindings;
}
