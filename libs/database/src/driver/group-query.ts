import pg from 'pg';
import type { Statement } from '../statement.ts';
import type { RowMessage } from './pg-internals.ts';
import { type Prelude, sendPreludes } from './prelude-query.ts';
import { applySettings, type TransactionSettings } from './preludes.ts';

type GroupCallback = (error: Error | undefined, rows: readonly unknown[][]) => void;

interface GroupOptions {
  /** What runs before the statements, in their transaction. */
  readonly preludes: readonly Prelude[];
  /** How long to wait for a silent server, in milliseconds. */
  readonly silenceMs: number;
  /** Called with each statement's rows, or with the error for the first one that the server refused. */
  readonly callback: GroupCallback;
}

/** A statement in a group. The message Sync, which the driver sends after each statement, comes after the last one. */
class Member extends pg.Query {
  constructor({ name, text, values }: Statement, onRows: (rows: unknown[]) => void) {
    super(text);
    this.values = values;
    this.callback = (error, result) => {
      if (error) throw error;
      onRows(result.rows);
    };
    if (name !== undefined) this.name = name;
  }

  override _getRows(connection: pg.Connection): void {
    connection.execute({}, true);
  }
}

/**
 * Several statements in one round trip and one implicit transaction, which ends with the message Sync (PostgreSQL
 * manual, "Extended Query"). All commit, or none.
 */
class GroupQuery implements pg.Submittable {
  callback: GroupCallback;
  readonly query_timeout: number;
  readonly #members: readonly Member[];
  readonly #preludes: readonly Prelude[];
  readonly #rows: unknown[][] = [];
  /** How many preludes the server has answered. After that, its answers belong to the statements themselves. */
  #answered = 0;
  #hasFailed = false;

  constructor(statements: readonly Statement[], { preludes, silenceMs, callback }: GroupOptions) {
    this.callback = callback;
    this.query_timeout = silenceMs;
    this.#preludes = preludes;
    this.#members = statements.map((statement) => new Member(statement, (rows) => this.#rows.push(rows)));
  }

  /** The name and text of the statement that the server is answering. The driver notes them as prepared. */
  get name(): string | undefined {
    return this.#current?.name;
  }

  get text(): string | undefined {
    return this.#current?.text;
  }

  /** The index of the statement that the server refused; the number of statements if it refused the commit. */
  get place(): number {
    return this.#rows.length;
  }

  submit(connection: pg.Connection): void {
    connection.stream.cork();
    try {
      sendPreludes(connection, this.#preludes);
      for (const member of this.#members) member.prepare(connection);
      connection.sync();
    } catch (error) {
      // The server has received part of the group. It must not commit that part because a later value cannot be sent.
      connection.stream.destroy();
      throw error;
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription(message: unknown): void {
    this.#current?.handleRowDescription(message);
  }

  handleDataRow(message: RowMessage): void {
    if (this.#hasBegun) this.#current?.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, connection: pg.Connection): void {
    if (!this.#hasBegun) {
      this.#answered += 1;
      return;
    }
    const member = this.#current;
    member?.handleCommandComplete(message, connection);
    // The driver calls this after Sync. Here it passes the rows on.
    member?.handleReadyForQuery(connection);
  }

  handleReadyForQuery(): void {
    if (!this.#hasFailed) this.callback(undefined, this.#rows);
  }

  handleError(error: Error, { parsedStatements, submittedNamedStatements }: pg.Connection): void {
    this.#hasFailed = true;
    // The server skipped the statements after the refused one, and prepared none of them.
    for (const { name } of this.#members)
      if (name !== undefined && parsedStatements[name] === undefined) delete submittedNamedStatements[name];
    this.callback(error, this.#rows);
  }

  get #hasBegun(): boolean {
    return this.#answered === this.#preludes.length;
  }

  get #current(): Member | undefined {
    return this.#members[this.#rows.length];
  }
}

/** A group's error: the server's error for one statement, and that statement's index. */
export class GroupError extends Error {
  override name = 'GroupError';
  readonly place: number;

  constructor(place: number, cause: Error) {
    super(cause.message, { cause });
    this.place = place;
  }
}

interface SendGroupOptions {
  /** Settings for the transaction. `applySettings` must have run on the connection before. */
  readonly settings: TransactionSettings | undefined;
  /** How long to wait for a silent server, in milliseconds. */
  readonly silenceMs: number;
}

/** Sends statements as one group and returns each one's rows. Throws GroupError if the server refuses one. */
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
