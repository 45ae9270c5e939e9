import pg from 'pg';
import type { Statement } from '../statement.ts';
import type { RowMessage } from './pg-internals.ts';

/** A prepared statement that runs before another one. It has one row. */
export interface Prelude {
  readonly statement: { readonly name: string; readonly values: readonly string[] };
  /** Called with the row's first value. */
  readonly onValue?: ((value: string | undefined) => void) | undefined;
  /** Whether the server answers it at once. By default it answers at the statement's end. */
  readonly isAnsweredAtOnce?: boolean;
}

interface PreludeOptions {
  readonly preludes: readonly Prelude[];
  /** Called when the server has run the statement, before its commit. */
  readonly onExecuted?: (() => void) | undefined;
}

/** Sends the preludes. Their statements must have run on the connection before. */
export function sendPreludes(connection: pg.Connection, preludes: readonly Prelude[]): void {
  for (const { statement, isAnsweredAtOnce } of preludes) {
    connection.bind({ statement: statement.name, values: [...statement.values] }, true);
    connection.execute({}, true);
    if (isAnsweredAtOnce) connection.flush();
  }
}

/**
 * One statement with preludes, in one round trip: all run in one implicit transaction, which ends with the message Sync
 * (PostgreSQL manual, "Extended Query"). Each takes its own snapshot.
 */
export class PreludeQuery extends pg.Query {
  readonly #preludes: readonly Prelude[];
  readonly #onExecuted: (() => void) | undefined;
  /** How many preludes the server has answered. After that, its answers belong to the statement itself. */
  #answered = 0;

  constructor({ text, values }: Statement, { preludes, onExecuted }: PreludeOptions) {
    super(text);
    this.values = values;
    this.#preludes = preludes;
    this.#onExecuted = onExecuted;
  }

  override requiresPreparation(): boolean {
    return this.#preludes.length > 0 || super.requiresPreparation();
  }

  override prepare(connection: pg.Connection): void {
    sendPreludes(connection, this.#preludes);
    super.prepare(connection);
  }

  override _getRows(connection: pg.Connection): void {
    connection.execute({}, true);
    // Without a flush, the server reports the statement's end only after the commit.
    if (this.#onExecuted) connection.flush();
    connection.sync();
  }

  override handleDataRow(message: RowMessage): void {
    const prelude = this.#preludes[this.#answered];
    if (!prelude) super.handleDataRow(message);
    else prelude.onValue?.(message.fields[0]?.toString());
  }

  override handleCommandComplete(message: unknown, connection: pg.Connection): void {
    if (this.#answered < this.#preludes.length) {
      this.#answered += 1;
      return;
    }
    this.#onExecuted?.();
    super.handleCommandComplete(message, connection);
  }
}
