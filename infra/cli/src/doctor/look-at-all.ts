import type pg from 'pg';
import { connectClient } from '../deployment/connect-client.ts';
import { findServers } from '../deployment/find-servers.ts';
import { connectForCommand } from '../deployment/short-lived-bus.ts';
import { findTableVersion } from '../deployment/table-version.ts';
import { exitCodes } from '../failure.ts';
import type { CommandParts, CommonOptions } from '../run-command.ts';
import { busIsAway, examineBus } from './examine-bus.ts';
import { examineClocks } from './examine-clocks.ts';
import { examineBloat, examineOutbox, examineReplicas, examineServer, examineTables } from './examine-database.ts';
import { examineEncryption } from './examine-encryption.ts';
import { examineExtensions } from './examine-extensions.ts';
import { examineDisk, examineNode, examineTokenSecret } from './examine-machine.ts';
import { examineSealedValues } from './examine-sealed-values.ts';
import { examineStorage } from './examine-storage.ts';
import { broken, examine, type Finding } from './finding.ts';
import { presentFindings } from './present-findings.ts';

export interface DoctorOptions extends CommonOptions {
  /** How much room there has to be on the disk of the data directory, in GiB. */
  readonly minFree?: number;
}

/** Examines everything and reports it; answers the exit code. */
export async function lookAtAll(parts: CommandParts, { minFree }: DoctorOptions): Promise<number> {
  const { config, terminal } = parts;
  const findings = [
    ...(await examine('Node', examineNode)),
    ...(await examine('disk', () => examineDisk(config, minFree))),
    ...(await examine('token secret', () => examineTokenSecret(config))),
    ...(await examine('files', () => examineStorage(config))),
    ...(await examine('extensions', () => examineExtensions(config))),
    ...(await lookAtServers(parts)),
  ];
  const isBroken = findings.some(({ verdict }) => verdict === 'broken');
  terminal.report({ broken: isBroken, findings }, presentFindings(findings));
  return isBroken ? exitCodes.failed : exitCodes.done;
}

async function lookAtServers(parts: CommandParts): Promise<Finding[]> {
  const { name, config, lifecycle } = parts;
  let client: pg.Client | undefined;
  let natsUrl = config.natsUrl;
  let databaseIsAway: Finding[] = [];
  try {
    const servers = await findServers(parts, { bus: true });
    natsUrl = servers.natsUrl;
    client = await connectClient(name, servers.databaseUrl);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    databaseIsAway = [broken('PostgreSQL', reason, 'Look at the server and at SERVICE_DATABASE_URL.')];
  }
  const bus = natsUrl === undefined ? undefined : await connectForCommand(parts, natsUrl);
  const ofBus = bus?.connected ? await examine('NATS', () => examineBus(bus)) : [busIsAway(natsUrl)];
  if (!client) return [...databaseIsAway, ...ofBus];
  const connection = client;
  lifecycle.onStop('database', () => connection.end());
  return [
    ...(await lookAtDatabase(connection, config.encryptionKey)),
    ...ofBus,
    ...(await examine('clock', () => examineClocks(connection, bus?.connected ? bus : undefined))),
  ];
}

async function lookAtDatabase(client: pg.Client, encryptionKey: string | undefined): Promise<Finding[]> {
  await client.query("set statement_timeout = '10s'; set default_transaction_read_only = on");
  const version = await findTableVersion(client);
  const ofDatabase = [...(await examine('PostgreSQL', () => examineServer(client))), examineTables(version)];
  if (version)
    ofDatabase.push(
      ...(await examine('dead rows', () => examineBloat(client))),
      ...(await examine('encryption key', () => examineEncryption(client, encryptionKey))),
      ...(await examine('sealed values', () => examineSealedValues(client, encryptionKey))),
      ...(await examine('outbox', () => examineOutbox(client))),
      ...(await examine('services', () => examineReplicas(client))),
    );
  return ofDatabase;
}
