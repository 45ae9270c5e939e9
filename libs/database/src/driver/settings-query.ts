import type { Duplex } from 'node:stream';
import pg from 'pg';
import type { Statement } from '../statement.ts';

/** The members of the driver's query that its types do not declare. */
interface DriverQuery extends pg.Query {
  name?: string;
  readonly text: string;
  query_timeout?: number;
  requiresPreparation(): boolean;
  prepare(connection: DriverConnection): void;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: { readonly fields: readonly (Buffer | string | null)[] }): void;
  handleCommandComplete(message: unknown, connection: DriverConnection): void;
  handleReadyForQuery(connection: DriverConnection): void;
  /** Requests the rows. */
  _getRows(connection: DriverConnection): void;
}

export interface DriverConnection {
  bind(config: { readonly statement: string; readonly values: readonly string[] }): void;
  execute(config: object): void;
  flush(): void;
  sync(): void;
  readonly stream: Duplex;
  /** The texts of statements by name: those that the server has prepared, and those that it was asked to prepare. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  readonly submittedNamedStatements: Record<string, string>;
}

export type Callback = (error: Error | undefined, result: { rows: unknown[] }) => void;

/** The driver's query, with the types of the constructor that this project uses. */
export const DriverQuery = pg.Query as unknown as new (
  text: string,
  values: readonly unknown[],
  callback: Callback,
) => DriverQuery;

/** Settings for one transaction, as JSON text: names and values. */
export type TransactionSettings = string;

/** The statement that applies settings until the end of the transaction. */
export const applySettings = (settings: TransactionSettings) =>
  ({
    name: 'database.settings',
    text: 'select pg_backend_pid(), count(set_config(key, value, true)) from jsonb_each_text($1)',
    values: [settings],
  }) satisfies Statement;

interface SettingsQueryOptions {
  readonly settings: TransactionSettings | undefined;
  /** Called with the id of the server's process as soon as it begins the statement, if there are settings. */
  readonly onProcess?: ((processId: number) => void) | undefined;
  /** Called when the server has run the statement, before its commit. */
  readonly onExecuted?: (() => void) | undefined;
  readonly callback: Callback;
}

/**
 * One statement with settings of its own, in one round trip: both run in one implicit transaction, which ends with the
 * message Sync (PostgreSQL manual, "Extended Query"). `applySettings` must have run on the connection before.
 */
export class SettingsQuery extends DriverQuery {
  readonly #settings: TransactionSettings | undefined;
  readonly #onProcess: ((processId: number) => void) | undefined;
  readonly #onExecuted: (() => void) | undefined;
  /** Whether the answers now belong to the statement itself, after that of the settings. */
  #isSet: boolean;

  constructor({ text, values }: Statement, { settings, onProcess, onExecuted, callback }: SettingsQueryOptions) {
    super(text, values, callback);
    this.#settings = settings;
    this.#onProcess = onProcess;
    this.#onExecuted = onExecuted;
    this.#isSet = settings === undefined;
  }

  override requiresPreparation(): boolean {
    return this.#settings !== undefined || super.requiresPreparation();
  }

  override prepare(connection: DriverConnection): void {
    if (this.#settings !== undefined) {
      const { name, values } = applySettings(this.#settings);
      connection.bind({ statement: name, values });
      connection.execute({});
      // Without a flush, the server sends the process id only at the end of the statement.
      if (this.#onProcess) connection.flush();
    }
    super.prepare(connection);
  }

  override _getRows(connection: DriverConnection): void {
    connection.execute({});
    // Without a flush, the server reports the end of the statement only after the commit.
    if (this.#onExecuted) connection.flush();
    connection.sync();
  }

  override handleDataRow(message: { readonly fields: readonly (Buffer | string | null)[] }): void {
    if (this.#isSet) super.handleDataRow(message);
    else this.#onProcess?.(Number(String(message.fields[0])));
  }

  override handleCommandComplete(message: unknown, connection: DriverConnection): void {
    if (this.#isSet) {
      this.#onExecuted?.();
      super.handleCommandComplete(message, connection);
    } else this.#isSet = true;
  }
}
