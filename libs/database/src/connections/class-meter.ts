import { type Metrics, sampledGauges } from '@recordbus/process/metrics';
import type { ClassName, WorkName } from './connection-budget.ts';

/** The current state of a class's connections, or of a kind of work. */
interface ClassState {
  connections?(): number;
  idle?(): number;
  inUse?(): number;
  waiting?(): number;
}

/** Measures a connection class or a kind of work. */
export interface ClassMeter {
  /** Adds a state to measure. */
  watch(state: ClassState): void;
  /** Notes that work waited for a connection, in seconds. */
  waited(seconds: number): void;
  /** Notes that work was refused because too much work waited, or it waited too long. */
  refused(): void;
  /** Notes that the server ended a statement that took too long. */
  timedOut(): void;
}

/** Returns the meter for a class or a kind of work. Without metrics it measures nothing. */
export type MeterOf = (name: ClassName | WorkName | 'shaped' | 'largeAnswers') => ClassMeter;

const nothing: ClassMeter = { watch() {}, waited() {}, refused() {}, timedOut() {} };

/** Adds the metrics for all classes and kinds of work, with the label `class`. */
export function createClassMeters(metrics: Metrics | undefined): MeterOf {
  if (!metrics) return () => nothing;
  const states: [name: string, state: ClassState][] = [];
  const gauge = (name: string, help: string, member: keyof ClassState) =>
    sampledGauges(metrics, {
      name,
      help,
      label: 'class',
      sample() {
        const sums = new Map<string, number>();
        for (const [of, state] of states) {
          const value = state[member]?.();
          if (value !== undefined) sums.set(of, (sums.get(of) ?? 0) + value);
        }
        return sums;
      },
    });
  gauge('recordbus_database_connections', 'Open connections to the database.', 'connections');
  gauge('recordbus_database_connections_idle', 'Idle connections to the database.', 'idle');
  gauge('recordbus_database_in_use', 'Units of work that hold a connection.', 'inUse');
  gauge('recordbus_database_waiting', 'Units of work that wait for a connection.', 'waiting');
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
    watch: (state) => void states.push([name, state]),
    waited: (seconds) => waits.observe({ class: name }, seconds),
    refused: () => refusals.inc({ class: name }),
    timedOut: () => timeouts.inc({ class: name }),
  });
}
