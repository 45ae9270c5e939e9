import type { Bus } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import type { Settings } from '@recordbus/settings';
import { every } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import { attemptMail, type MailOutcome } from './attempt-mail.ts';
import { createCurrentClient } from './current-client.ts';
import { isMailConfigured } from './is-mail-configured.ts';
import { claimMail, removeExpiredMail } from './queue.ts';
import { maxConnections, sendTimeoutMs } from './smtp-client.ts';

/** Sends the queued mails. Any number of replicas may run one (mail §3.2). */
export interface MailSender {
  start(): void;
  /** Waits up to 5 s for mails that are being sent. Another replica, or the next start, sends the others. */
  stop(): Promise<void>;
}

interface MailSenderDeps {
  readonly query: Query;
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly settings: Pick<Settings, 'get' | 'onChange'>;
  readonly log: Logger;
  readonly onOutcome?: (outcome: MailOutcome) => void;
}

/** The poll interval without a notice. */
const idleMs = 2000;
/** The lease of a mail, longer than any attempt. When it expires, another process may send the mail. */
const leaseSec = (2 * sendTimeoutMs) / 1000;

const stopTimeoutMs = 5000;

/** Creates the sender of this process; it does nothing before `start`. */
export function createMailSender({ query, bus, settings, log, onOutcome = () => {} }: MailSenderDeps): MailSender {
  const sending = every({ name: 'read the mail queue', log, intervalMs: idleMs, run: round });
  const running = new Set<Promise<void>>();
  const endings: (() => void)[] = [];
  const client = createCurrentClient(settings);
  const ending = new AbortController();
  const attemptDeps = { query, settings, client, log, ending: ending.signal };

  async function round(): Promise<void> {
    for (const { id, template, recipient, attempts } of await removeExpiredMail(query)) {
      log.error({ mail_id: id, template, to: recipient, attempts }, 'mail expired before it was sent');
      onOutcome('given_up');
    }
    const free = maxConnections - running.size;
    if (free <= 0 || !isMailConfigured(settings)) return;
    const mails = await claimMail(query, free, leaseSec);
    for (const mail of mails) {
      const begun = attemptMail(attemptDeps, mail)
        .then(onOutcome)
        .catch((error) => log.warn({ err: error, mail_id: mail.id }, 'cannot record the result of a mail'))
        .finally(() => {
          running.delete(begun);
          sending.wake();
        });
      running.add(begun);
    }
  }

  return {
    start() {
      endings.push(
        bus.onNotice('mail', sending.wake),
        settings.onChange((changed) => {
          if (!changed.values().some((key) => key.startsWith('smtp.'))) return;
          client.drop();
          sending.wake();
        }),
      );
      sending.start();
    },
    async stop() {
      for (const end of endings) end();
      await sending.stop();
      const timer = setTimeout(() => ending.abort(), stopTimeoutMs);
      await Promise.all(running);
      clearTimeout(timer);
      client.drop();
    },
  };
}
