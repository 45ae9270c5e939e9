/** The names of one connection's prepared statements. */
export interface StatementNames {
  /** Sends a statement with its name, or without it while another statement is being prepared under this name. */
  use<T>(name: string | undefined, send: (usable: string | undefined) => Promise<T>): Promise<T>;
}

/**
 * Keeps apart statements with one name on a pipelined connection. The driver omits the text once a statement with the
 * same name was sent. If the server then refuses the first one (a column is gone), the second one finds no statement
 * with this name (26000, invalid_sql_statement_name). So until one has succeeded, the others are sent with their text
 * and without the name.
 */
export function createStatementNames(): StatementNames {
  const prepared = new Set<string>();
  const beingPrepared = new Set<string>();
  async function prepare<T>(name: string, send: (usable: string) => Promise<T>): Promise<T> {
    beingPrepared.add(name);
    try {
      const result = await send(name);
      prepared.add(name);
      return result;
    } finally {
      beingPrepared.delete(name);
    }
  }

  return {
    use(name, send) {
      if (name === undefined || prepared.has(name)) return send(name);
      return beingPrepared.has(name) ? send(undefined) : prepare(name, send);
    },
  };
}
