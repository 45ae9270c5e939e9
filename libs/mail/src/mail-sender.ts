import type { Bus } from '@recordbus/bus';
import type { ValueCipher } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import type { Logger } from '@recordbus/process/logging';
import { createQueueWorker } from '@recordbus/queue';
import type { Settings } from '@recordbus/settings';
import { attemptMail, type MailOutcome } from './attempt-mail.ts';
import { createCurrentClient } from './current-client.ts';
import { isMailConfigured } from './is-mail-configured.ts';
import { claimMail, type QueuedMail, removeExpiredMail } from './queue.ts';
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
  readonly settings: Pick<Settings, 'get' | 'getNamed' | 'onChange'>;
  readonly cipher: Pick<ValueCipher, 'decrypt'>;
  readonly log: Logger;
  readonly onOutcome?: (outcome: MailOutcome) => void;
}

/** The lease of a mail, longer than any attempt. When it expires, another process may send the mail. */
const leaseSec = (2 * sendTimeoutMs) / 1000;

const stopTimeoutMs = 5000;

/** Creates this process's sender; it does nothing before `start`. */
export function createMailSender({
  query,
  bus,
  settings,
  cipher,
  log,
  onOutcome = () => {},
}: MailSenderDeps): MailSender {
  const endings: (() => void)[] = [];
  const client = createCurrentClient(settings);
  const worker = createQueueWorker<QueuedMail>({
    name: 'read the mail queue',
    log,
    maxRunning: maxConnections,
    graceMs: stopTimeoutMs,
    async claim(limit) {
      for (const { id, template, recipient, attempts } of await removeExpiredMail(query)) {
        log.error({ mail_id: id, template, to: recipient, attempts }, 'mail expired before it was sent');
        onOutcome('given_up');
      }
      return { items: isMailConfigured(settings) ? await claimMail(query, limit, leaseSec) : [] };
    },
    work: (mail, ending) =>
      attemptMail({ query, settings, client, cipher, log, ending }, mail)
        .then(onOutcome)
        .catch((error) => log.warn({ err: error, mail_id: mail.id }, "cannot record a mail's result")),
  });

  return {
    start() {
      endings.push(
        bus.onNotice('mail', worker.wake),
        settings.onChange((changed) => {
          if (!changed.values().some((key) => key.startsWith('smtp.'))) return;
          client.drop();
          worker.wake();
        }),
      );
      worker.start();
    },
    async stop() {
      for (const end of endings) end();
      await worker.stop();
      client.drop();
    },
  };
}
