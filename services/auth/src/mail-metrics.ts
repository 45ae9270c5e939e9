import type { Query } from '@recordbus/database';
import type { MailOutcome } from '@recordbus/mail';
import { type Metrics, sampledGauge } from '@recordbus/shared/metrics';

/** Adds what is known of mail to the metrics, and gives what is to be called with each outcome. */
export function measureMail(metrics: Metrics, query: Query): (outcome: MailOutcome) => void {
  const outcomes = metrics.counter('recordbus_mails_total', 'Attempts to send a mail by what came of them.', [
    'result',
  ]);
  sampledGauge(metrics, {
    name: 'recordbus_mails_waiting',
    help: 'Mails that are still to be sent.',
    isShared: true,
    async sample() {
      const [row] = await query<{ count: number }>({ text: 'select count(*) from system.mail_queue', values: [] });
      return row?.count ?? 0;
    },
  });
  return (result) => outcomes.inc({ result });
}
