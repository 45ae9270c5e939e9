import pg from 'pg';
import type { Statement } from '../statement.ts';
import { GroupError, GroupQuery } from './group-query.ts';
import type { TransactionSettings } from './settings-query.ts';

interface SendGroupOptions {
  readonly settings: TransactionSettings | undefined;
  readonly silenceMs: number;
}

/** Sends statements as one group and returns the rows of each. Throws GroupError if the server refuses one. */
export const sendGroup = (
  client: pg.ClientBase,
  statements: readonly Statement[],
  options: SendGroupOptions,
): Promise<readonly unknown[][]> =>
  new Promise((resolve, reject) => {
    const group = new GroupQuery(statements, {
      ...options,
      callback(error, rows) {
        if (!error) resolve(rows);
        else reject(error instanceof pg.DatabaseError ? new GroupError(group.place, error) : error);
      },
    });
    client.query(group as unknown as pg.Submittable);
  });
