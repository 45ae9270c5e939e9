import type pg from 'pg';
import type { Statement } from '../statement.ts';
import { type PositionCheck, PositionQuery } from './position-query.ts';
import { DriverQuery, SettingsQuery, type TransactionSettings } from './settings-query.ts';

interface SendOptions {
  /** How long to wait for a silent server, in milliseconds. By default, the time of the connection. */
  readonly silenceMs?: number;
  /** Whether the statement is sent without its name. */
  readonly isUnnamed?: boolean;
  /** Settings for this statement only. */
  readonly settings?: TransactionSettings | undefined;
  /** Called with the id of the server's process, if the statement has settings. */
  readonly onProcess?: ((processId: number) => void) | undefined;
  /** Called when the server has run the statement, before its commit. Costs the server an additional answer. */
  readonly onExecuted?: (() => void) | undefined;
  /** For a read replica: the state that the read needs. Throws BehindError if the replica lacks it. */
  readonly check?: PositionCheck | undefined;
}

/**
 * Sends a statement on a connection and returns its rows. It creates the query object of the driver itself: given an
 * options object, the driver would copy its descriptors first, which costs 7 µs of a get's 160.
 */
export function sendStatement<R>(
  client: pg.ClientBase,
  statement: Statement,
  { silenceMs, isUnnamed = false, settings, onProcess, onExecuted, check }: SendOptions = {},
): Promise<R[]> {
  return new Promise<R[]>((resolve, reject) => {
    const callback = (error: Error | undefined, result: { rows: unknown[] }) => {
      if (error) reject(error);
      else resolve(result.rows as R[]);
    };
    const query = check
      ? new PositionQuery(statement, check, callback)
      : settings === undefined && !onExecuted
        ? new DriverQuery(statement.text, statement.values, callback)
        : new SettingsQuery(statement, { settings, onProcess, onExecuted, callback });
    if (statement.name !== undefined && !isUnnamed) query.name = statement.name;
    if (silenceMs !== undefined) query.query_timeout = silenceMs;
    client.query(query);
  }).catch((error: unknown) => {
    // Makes the stack lead to the caller instead of the driver's reader.
    if (error instanceof Error) Error.captureStackTrace(error);
    throw error;
  });
}
