import pg from 'pg';
import type { Statement } from '../statement.ts';
import { GroupError, GroupQuery } from './group-query.ts';
import { applySettings, type TransactionSettings } from './preludes.ts';

interface SendGroupOptions {
  /** Settings for the transaction. `applySettings` must have run on the connection before. */
  readonly settings: TransactionSettings | undefined;
  /** How long to wait for a silent server, in milliseconds. */
  readonly silenceMs: number;
}

/** Sends statements as one group and returns the rows of each. Throws GroupError if the server refuses one. */
export const sendGroup = (
  client: pg.ClientBase,
  statements: readonly Statement[],
  { settings, silenceMs }: SendGroupOptions,
): Promise<readonly unknown[][]> =>
  new Promise((resolve, reject) => {
    const group = new GroupQuery(statements, {
      preludes: settings === undefined ? [] : [{ statement: applySettings(settings) }],
      silenceMs,
      callback(error, rows) {
        if (!error) resolve(rows);
        else reject(error instanceof pg.DatabaseError ? new GroupError(group.place, error) : error);
      },
    });
    client.query(group);
  });
