import { type Metrics, sampledGauges } from '@recordbus/shared/metrics';

/** What stays open: an answer that is a stream of messages, or a WebSocket. */
export type OpenKind = 'stream' | 'websocket';

/** Counts the connections that stay open. */
export interface OpenCounts {
  begin(kind: OpenKind): void;
  end(kind: OpenKind): void;
}

/** Creates the counts; the metrics have the present ones. */
export function createOpenCounts(metrics: Metrics): OpenCounts {
  const counts = new Map<OpenKind, number>([
    ['stream', 0],
    ['websocket', 0],
  ]);
  sampledGauges(metrics, {
    name: 'recordbus_open_connections',
    help: 'Connections of clients that stay open, by kind, those included that are being opened.',
    label: 'kind',
    sample: () => counts,
  });
  const add = (kind: OpenKind, number: number): void => {
    counts.set(kind, (counts.get(kind) ?? 0) + number);
  };
  return { begin: (kind) => add(kind, 1), end: (kind) => add(kind, -1) };
}
