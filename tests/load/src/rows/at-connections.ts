import type { Row } from './row.ts';

/** The numbers of connections at which writes are measured. */
const connectionCounts = [1, 8, 32, 128];

/** Returns a row at each number of connections, without the bare server. The names end in the number. */
export const atConnections = (row: Row): Row[] =>
  connectionCounts.map((connections) => ({
    ...row,
    name: `${row.name}-${connections}`,
    isProductOnly: true,
    connections,
  }));
