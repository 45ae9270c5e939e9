import type { Query } from '@recordbus/database';
import type { MailOutcome } from '@recordbus/mail';
import { type Metrics, sampledGauge } from '@recordbus/shared/metrics';

/** Adds the metrics of mail (mail §3.7); returns the function that counts an outcome. */
export function measureMail(metrics: Metrics, query: Query): (outcome: MailOutcome) => void {
  const outcomes = metrics.counter('recordbus_mails_total', 'Attempts to send a mail, by result.', ['result']);
  sampledGauge(metrics, {
    name: 'recordbus_mails_waiting',
    help: 'Mails that wait to be sent.',
    isShared: true,
    async sample() {
      const [row] = await query<{ count: number }>({ text: 'select count(*) from system.mail_queue', values: [] });
      return row?.count ?? 0;
    },
  });
  return (result) => outcomes.inc({ result });
}
