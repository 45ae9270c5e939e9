import type { Row } from './row.ts';

/** At how many connections writes are measured. */
const connectionCounts = [1, 8, 32, 128];

/** Returns a row at each connection count, without the bare server. The names end in the count. */
export const atConnections = (row: Row): Row[] =>
  connectionCounts.map((connections) => ({
    ...row,
    name: `${row.name}-${connections}`,
    isProductOnly: true,
    connections,
  }));
