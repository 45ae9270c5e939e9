import type { Query } from './statement.ts';

const named = (name: string): string => `hashtext('recordbus.${name}')`;
const ofEach = (prefix: string): string => `hashtextextended('${prefix}' || $1, 0)`;

/**
 * All advisory locks, each as its key's SQL: `pg_try_advisory_lock(${locks.commands})`. A test refuses others. `$1` in a key
 * stands for the object that it locks. Unless an entry says otherwise, a lock lasts until its transaction ends, and who
 * finds it taken waits.
 */
export const locks = {
  /** Migrations. Each process tries it at its start; the first one migrates while the others poll. */
  migrations: named('system'),
  /** Grants to the role that reads. Taken at the start by a process that finds some missing. */
  roles: named('roles'),
  /** Set-up. Taken by the request that adds the first admin, so that there is only one. */
  firstAdmin: named('first_admin'),
  /**
   * The collections' tables. Taken by each schema change and by `cli analyst`. A backup takes it for its session,
   * until it holds its tables.
   */
  schema: named('schema'),
  /** Stored bytes. A backup takes it for its session; removals try to share it, and otherwise remove later. */
  storedFiles: named('files'),
  /** The deployment. A command or a backup tries it for its session, since only one may change a deployment. */
  commands: named('cli'),
  /** The days of events, a partition each. Taken by database functions that create and drop them. */
  eventDays: named('event_days'),
  /** The days of the request log, a partition each. Taken by database functions that create and drop them. */
  requestDays: named('request_days'),
  /** A slot for a client's long reads: `$1` is the client, and `slot` a number. A read tries each slot. */
  readSlot: `hashtext('recordbus.read ' || $1::text), slot`,
  /** A stream's room, by the stream's name. Taken by a relay while it replaces its grant. */
  room: ofEach('room '),
  /** A cron's runs, by its name. Taken by the replica that begins one. */
  cron: ofEach('cron '),
  /** An extension's jobs, by its name. Taken by a replica while it claims some that have a concurrency. */
  extensionJobs: ofEach('extension jobs '),
  /**
   * A record id's versions, by `<collection id>/<record id>`. Taken when a deleted record is restored, and by the
   * database function that reads earlier records' versions for a create or a PUT.
   */
  recordId: ofEach(''),
  /** An account's id. Taken by a write that creates an account with a chosen id, so that no two collections have one. */
  accountId: ofEach('account '),
  /** The test databases' template, by its name. A test file takes it for its session, so that only one creates it. */
  testTemplate: 'hashtext($1)',
} as const;

/** Takes a lock until the transaction ends. `object` is what `$1` in its key stands for. */
export async function takeLock(query: Query, key: string, object?: string): Promise<void> {
  await query({ text: `select pg_advisory_xact_lock(${key})`, values: object === undefined ? [] : [object] });
}

/** Takes locks for several objects until the transaction ends, in one order for all takers: none waits for another in a circle. */
export async function takeLocks(query: Query, key: string, objects: readonly string[]): Promise<void> {
  await query({
    text: `select count(pg_advisory_xact_lock(${key.replaceAll('$1', 'o.object')}))
      from (select object from unnest($1::text[]) as u (object) order by object collate "C") o`,
    values: [objects],
  });
}
