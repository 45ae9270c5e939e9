import type { Query } from '@recordbus/database';
import type { MailOutcome } from '@recordbus/mail';
import type { Metrics } from '@recordbus/process/metrics';
import { countRows } from '@recordbus/queue';

/** Adds the mail metrics (mail §3.7); returns the function that counts an outcome. */
export function measureMail(metrics: Metrics, query: Query): (outcome: MailOutcome) => void {
  const outcomes = metrics.counter('recordbus_mails_total', 'Attempts to send a mail, by result.', ['result']);
  countRows(metrics, query, {
    name: 'recordbus_mails_waiting',
    help: 'Mails that wait to be sent.',
    from: 'system.mail_queue',
  });
  return (result) => outcomes.inc({ result });
}
