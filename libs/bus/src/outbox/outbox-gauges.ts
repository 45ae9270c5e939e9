import type { Query } from '@recordbus/database';
import { type Metrics, sampledGauge } from '@recordbus/process/metrics';

/** Registers the metrics that show how far the stream is behind the database. */
export function addOutboxGauges(metrics: Metrics, query: Query): void {
  const sample = (text: string) => async (): Promise<number> => {
    const [row] = await query<{ value: number }>({ text: `select (${text})::double precision as value`, values: [] });
    return row?.value ?? 0;
  };
  const waiting = 'from system.outbox where published_at is null and parked_at is null';
  sampledGauge(metrics, {
    name: 'recordbus_outbox_waiting',
    help: 'Committed events that are not yet on the stream.',
    sample: sample(`select count(*) ${waiting}`),
    isShared: true,
  });
  sampledGauge(metrics, {
    name: 'recordbus_outbox_oldest_seconds',
    help: 'Age of the oldest event that is not yet on the stream; 0 when there is none.',
    sample: sample(
      `select coalesce(extract(epoch from clock_timestamp() - (select created_at ${waiting} order by id limit 1)), 0)`,
    ),
    isShared: true,
  });
  sampledGauge(metrics, {
    name: 'recordbus_outbox_parked',
    help: 'Events that can never be published; see system.outbox.error.',
    sample: sample('select count(*) from system.outbox where parked_at is not null'),
    isShared: true,
  });
}
