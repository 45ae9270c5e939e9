import { type Metrics, sampledGauge } from '@recordbus/shared/metrics';
import type { Pool } from 'pg';

/** Adds how many connections a pool has, and whether anybody waits for one. */
export function measurePool(metrics: Metrics, pool: Pool): void {
  sampledGauge(metrics, {
    name: 'recordbus_database_connections',
    help: 'Connections of the pool to the database, idle ones included.',
    sample: () => pool.totalCount,
  });
  sampledGauge(metrics, {
    name: 'recordbus_database_connections_idle',
    help: 'Connections of the pool that nobody uses.',
    sample: () => pool.idleCount,
  });
  sampledGauge(metrics, {
    name: 'recordbus_database_waiting',
    help: 'Statements that wait for a connection of the pool.',
    sample: () => pool.waitingCount,
  });
}
