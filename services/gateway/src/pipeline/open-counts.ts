import { type Metrics, sampledGauges } from '@recordbus/process/metrics';

/** The kind of connection that stays open: an answer that is a message stream, or a WebSocket. */
export type OpenKind = 'stream' | 'websocket';

/** Counts the connections that stay open. */
export interface OpenCounts {
  begin(kind: OpenKind): void;
  end(kind: OpenKind): void;
}

/** Creates the counts, with metrics. */
export function createOpenCounts(metrics: Metrics): OpenCounts {
  const counts = new Map<OpenKind, number>([
    ['stream', 0],
    ['websocket', 0],
  ]);
  sampledGauges(metrics, {
    name: 'recordbus_open_connections',
    help: 'Client connections that stay open, or are being opened, by kind.',
    label: 'kind',
    sample: () => counts,
  });
  const add = (kind: OpenKind, number: number): void => {
    counts.set(kind, (counts.get(kind) ?? 0) + number);
  };
  return { begin: (kind) => add(kind, 1), end: (kind) => add(kind, -1) };
}
