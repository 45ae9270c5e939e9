import type pg from 'pg';
import { applySettings, replicaPosition, type TransactionSettings } from '../driver/preludes.ts';
import type { Statement } from '../statement.ts';
import { type SessionSettings, setStatements, transactionSettings } from './session-settings.ts';

/** Gives a pool's statements their settings. */
export interface Sessions {
  /**
   * Prepares a connection for a statement outside transactions with a statement time, in milliseconds. Returns the
   * settings that the statement carries.
   */
  prepare(client: pg.ClientBase, statementMs: number, more?: SessionSettings): Promise<TransactionSettings | undefined>;
  /** Begins a transaction. */
  begin(client: pg.ClientBase, statementMs: number, more?: SessionSettings): Promise<void>;
  /** Returns the id of the process that serves a transaction. */
  processOfTransaction(client: pg.ClientBase): Promise<number | undefined>;
  /** Returns the id of the process that serves a connection; undefined if it may change with each transaction. */
  processOf(client: pg.ClientBase): number | undefined;
}

const processOf = (client: pg.ClientBase): number | undefined => client.processID ?? undefined;

/** Runs a statement on each connection once, so that the connection has it prepared. */
function createPrepareOnce(statement: Statement & { readonly values: string[] }) {
  const prepared = new WeakSet<pg.ClientBase>();
  return async (client: pg.ClientBase): Promise<void> => {
    if (prepared.has(client)) return;
    await client.query(statement);
    prepared.add(client);
  };
}

const begin = async (client: pg.ClientBase, settings: SessionSettings): Promise<void> => {
  const sets = setStatements(settings, 'transaction');
  await client.query(sets === '' ? 'begin' : `begin; ${sets}`);
};

/** Sessions that belong to their connections, so settings stay. A connection starts with `initialMs` as statement time. */
export function ownSessions(initialMs: number): Sessions {
  const statementMsOf = new WeakMap<pg.ClientBase, number>();
  const prepareSettings = createPrepareOnce(applySettings('{}'));
  const currentMs = (client: pg.ClientBase) => statementMsOf.get(client) ?? initialMs;
  const timeOf = (statementMs: number) => ({ statement_timeout: String(statementMs) });
  return {
    async prepare(client, statementMs, more) {
      if (currentMs(client) !== statementMs) {
        await client.query(setStatements(timeOf(statementMs), 'session'));
        statementMsOf.set(client, statementMs);
      }
      if (!more) return undefined;
      await prepareSettings(client);
      return JSON.stringify(more);
    },
    begin: (client, statementMs, more) =>
      begin(client, { ...more, ...(currentMs(client) !== statementMs && timeOf(statementMs)) }),
    processOfTransaction: async (client) => processOf(client),
    processOf,
  };
}

/** Sessions on a read replica. Their first work prepares the check of its position. */
export function replicaSessions(initialMs: number): Sessions {
  const own = ownSessions(initialMs);
  const prepareCheck = createPrepareOnce(replicaPosition(0));
  return {
    ...own,
    async prepare(client, ...rest) {
      await prepareCheck(client);
      return own.prepare(client, ...rest);
    },
  };
}

/** Returns the settings for one statement on a connection through a pooler. */
export const pooledSettings = (settings: SessionSettings, statementMs: number): TransactionSettings =>
  JSON.stringify(transactionSettings({ ...settings, statement_timeout: String(statementMs) }));

/**
 * Sessions behind a pooler, which gives each transaction any of its server connections. So every transaction carries
 * its settings, and none stays.
 */
export function pooledSessions(settings: SessionSettings): Sessions {
  const prepareSettings = createPrepareOnce(applySettings('{}'));
  return {
    async prepare(client, statementMs, more) {
      await prepareSettings(client);
      return pooledSettings({ ...settings, ...more }, statementMs);
    },
    begin: (client, statementMs, more) =>
      begin(client, transactionSettings({ ...settings, ...more, statement_timeout: String(statementMs) })),
    async processOfTransaction(client) {
      const { rows } = await client.query<{ processId: number }>('select pg_backend_pid() as "processId"');
      return rows[0]?.processId;
    },
    processOf: () => undefined,
  };
}
