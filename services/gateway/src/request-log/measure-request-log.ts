import { type Metrics, sampledCounter, sampledGauge } from '@recordbus/shared/metrics';
import type { RequestLog } from './request-log.ts';

/** Adds how the request log is doing. */
export function measureRequestLog(metrics: Metrics, { waiting, lost }: Pick<RequestLog, 'waiting' | 'lost'>): void {
  sampledGauge(metrics, {
    name: 'recordbus_request_log_waiting',
    help: 'Requests that are still to be written to the request log.',
    sample: waiting,
  });
  sampledCounter(metrics, {
    name: 'recordbus_request_log_lost_total',
    help: 'Requests that are not in the request log, because the database did not take them.',
    sample: lost,
  });
}
