import type pg from 'pg';
import { applySettings, replicaPosition, type TransactionSettings } from '../driver/preludes.ts';
import { type SessionSettings, setStatements, transactionSettings } from './session-settings.ts';

/** Gives the statements of a pool their settings. */
export interface Sessions {
  /** Prepares a connection for work with a statement time, in milliseconds. */
  prepare(client: pg.ClientBase, statementMs: number): Promise<void>;
  /** Begins a transaction. */
  begin(client: pg.ClientBase, statementMs: number): Promise<void>;
  /** Returns the id of the process that serves a transaction. */
  processOfTransaction(client: pg.ClientBase): Promise<number | undefined>;
  /** Returns the id of the process that serves a connection; undefined if it may change with each transaction. */
  processOf(client: pg.ClientBase): number | undefined;
  /** Returns the settings that each statement outside transactions carries. */
  settingsOf(statementMs: number): TransactionSettings | undefined;
}

const processOf = (client: pg.ClientBase): number | undefined => client.processID ?? undefined;

/**
 * Sessions that belong to their connections, so settings stay. A connection starts with `initialMs` as statement time.
 * Without `initialMs`, and with other settings, its first work sets them.
 */
export function ownSessions(settings: SessionSettings, initialMs: number): Sessions {
  const statementMsOf = new WeakMap<pg.ClientBase, number>();
  const isComplete = Object.keys(settings).length === 0;
  return {
    async prepare(client, statementMs) {
      const currentMs = statementMsOf.get(client) ?? (isComplete ? initialMs : undefined);
      if (currentMs === statementMs) return;
      await client.query(setStatements({ ...settings, statement_timeout: String(statementMs) }, 'session'));
      statementMsOf.set(client, statementMs);
    },
    async begin(client) {
      await client.query('begin');
    },
    processOfTransaction: async (client) => processOf(client),
    processOf,
    settingsOf: () => undefined,
  };
}

/** Sessions on a read replica. Their first work prepares the check of its position. */
export function replicaSessions(settings: SessionSettings, initialMs: number): Sessions {
  const own = ownSessions(settings, initialMs);
  const prepared = new WeakSet<pg.ClientBase>();
  return {
    ...own,
    async prepare(client, statementMs) {
      await own.prepare(client, statementMs);
      if (prepared.has(client)) return;
      await client.query(replicaPosition(0));
      prepared.add(client);
    },
  };
}

/** Returns the settings of one statement of a connection through a pooler. */
export const pooledSettings = (settings: SessionSettings, statementMs: number): TransactionSettings =>
  JSON.stringify(transactionSettings({ ...settings, statement_timeout: String(statementMs) }));

/**
 * Sessions behind a pooler, which gives each transaction any of its connections to the server. So every transaction
 * carries its settings, and none stays.
 */
export function pooledSessions(settings: SessionSettings): Sessions {
  const prepared = new WeakSet<pg.ClientBase>();
  return {
    async prepare(client, statementMs) {
      if (prepared.has(client)) return;
      await client.query(applySettings(pooledSettings(settings, statementMs)));
      prepared.add(client);
    },
    async begin(client, statementMs) {
      const own = transactionSettings({ ...settings, statement_timeout: String(statementMs) });
      await client.query(`begin; ${setStatements(own, 'transaction')}`);
    },
    async processOfTransaction(client) {
      const { rows } = await client.query<{ processId: number }>('select pg_backend_pid() as "processId"');
      return rows[0]?.processId;
    },
    processOf: () => undefined,
    settingsOf: (statementMs) => pooledSettings(settings, statementMs),
  };
}
