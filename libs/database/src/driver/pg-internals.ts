import type pg from 'pg';

/** A row as the server sends it: texts, or null. */
export interface RowMessage {
  readonly fields: readonly (Buffer | string | null)[];
}

type Row = pg.QueryResultRow;

/** Driver members that its types lack. This file lists every one that the code relies on. */
declare module 'pg' {
  interface ClientBase {
    /** The server process's id; a pooler may report none. */
    readonly processID?: number;
    /** Whether the server has answered everything that was sent. */
    readonly readyForQuery: boolean;
  }

  interface Connection {
    /** Statements' texts by name: those that the server has prepared, and those that it was asked to prepare. */
    readonly parsedStatements: Readonly<Record<string, string>>;
    readonly submittedNamedStatements: Record<string, string>;
    /** Begins to read a plain or encrypted stream. */
    attachListeners(stream: { on(event: string, listener: (chunk: Buffer) => void): unknown }): void;
  }

  // Its type parameters have to be the class's.
  interface Query<R extends Row, I> {
    name?: string;
    readonly text: string;
    values: readonly unknown[];
    /** How long to wait for a silent server, in milliseconds. */
    query_timeout?: number;
    callback: (error: Error | undefined, result: { rows: unknown[] }) => void;
    requiresPreparation(): boolean;
    prepare(connection: Connection): void;
    handleRowDescription(message: unknown): void;
    handleDataRow(message: RowMessage): void;
    handleCommandComplete(message: unknown, connection: Connection): void;
    handleReadyForQuery(connection: Connection): void;
    /** Requests the rows. */
    _getRows(connection: Connection): void;
  }
}
