import { type Metrics, sampledCounter, sampledGauge } from '@recordbus/process/metrics';
import type { RequestLog } from './request-log.ts';

/** Registers the request log's metrics. */
export function measureRequestLog(metrics: Metrics, { waiting, lost }: Pick<RequestLog, 'waiting' | 'lost'>): void {
  sampledGauge(metrics, {
    name: 'recordbus_request_log_waiting',
    help: 'Requests that wait to be written to the request log.',
    sample: waiting,
  });
  sampledCounter(metrics, {
    name: 'recordbus_request_log_lost_total',
    help: 'Requests missing from the request log because the database did not accept them.',
    sample: lost,
  });
}
