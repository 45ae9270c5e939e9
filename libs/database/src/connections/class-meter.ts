import { type Metrics, sampledGauges } from '@recordbus/shared/metrics';
import type { ClassName } from './connection-budget.ts';

/** The current state of the connections of a class. */
interface ClassState {
  connections(): number;
  idle(): number;
  inUse(): number;
  waiting(): number;
}

/** Measures one class of connections. */
export interface ClassMeter {
  watch(state: ClassState): void;
  /** Notes that work waited for a connection, in seconds. */
  waited(seconds: number): void;
  /** Notes that work was refused because too much work waited, or it waited too long. */
  refused(): void;
  /** Notes that the server ended a statement that took too long. */
  timedOut(): void;
}

/** Returns the meter of a class. Without metrics it measures nothing. */
export type MeterOf = (name: ClassName | 'shaped' | 'largeAnswers') => ClassMeter;

const nothing: ClassMeter = { watch() {}, waited() {}, refused() {}, timedOut() {} };

/** Adds the metrics of all classes, with the label `class`. */
export function createClassMeters(metrics: Metrics | undefined): MeterOf {
  if (!metrics) return () => nothing;
  const states = new Map<string, ClassState>();
  const gauge = (name: string, help: string, read: (state: ClassState) => number) =>
    sampledGauges(metrics, {
      name,
      help,
      label: 'class',
      sample: () => new Map([...states].map(([of, state]) => [of, read(state)])),
    });
  gauge('recordbus_database_connections', 'Open connections to the database.', (state) => state.connections());
  gauge('recordbus_database_connections_idle', 'Idle connections to the database.', (state) => state.idle());
  gauge('recordbus_database_in_use', 'Units of work that hold a connection.', (state) => state.inUse());
  gauge('recordbus_database_waiting', 'Units of work that wait for a connection.', (state) => state.waiting());
  const waits = metrics.duration('recordbus_database_wait_seconds', 'How long work waited for a connection.', [
    'class',
  ]);
  const refusals = metrics.counter(
    'recordbus_database_refused_total',
    'Units of work that got no connection in time.',
    ['class'],
  );
  const timeouts = metrics.counter(
    'recordbus_database_timed_out_total',
    'Statements that the server ended because they took too long.',
    ['class'],
  );
  return (name) => ({
    watch: (state) => void states.set(name, state),
    waited: (seconds) => waits.observe({ class: name }, seconds),
    refused: () => refusals.inc({ class: name }),
    timedOut: () => timeouts.inc({ class: name }),
  });
}
