import type { Bus } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import type { Settings } from '@recordbus/settings';
import { every } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';
import { isMailConfigured } from './is-mail-configured.ts';
import { isMailableAddress } from './mailable-address.ts';
import { claimMail, postponeMail, type QueuedMail, removeExpiredMail, removeMail } from './queue.ts';
import { renderMail } from './render-mail.ts';
import { readSendFailure, type SendFailure } from './send-failure.ts';
import { createSmtpClient, maxConnections, type SmtpClient, sendTimeoutMs } from './smtp-client.ts';

/** Sends the queued mails. Any number of replicas may run one (mail §3.2). */
export interface MailSender {
  start(): void;
  /** Waits up to 5 s for mails that are being sent. Another replica, or the next start, sends the others. */
  stop(): Promise<void>;
}

/** The result of an attempt, or of waiting for one (mail §3.7). */
export type MailOutcome = 'sent' | 'postponed' | 'given_up';

interface MailSenderDeps {
  readonly query: Query;
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly settings: Pick<Settings, 'get' | 'onChange'>;
  readonly log: Logger;
  readonly onOutcome?: (outcome: MailOutcome) => void;
}

/** The poll interval without a notice. */
const idleMs = 2000;
/** The backoff by attempt; the last one repeats until the mail expires (mail §3.3). */
const backoffSec = [2, 10, 60, 300, 1800];
/** The lease of a mail, longer than any attempt. After it another process may send the mail of one that died. */
const leaseSec = (2 * sendTimeoutMs) / 1000;

const stopTimeoutMs = 5000;

/** Creates the sender of this process; it does nothing before `start`. */
export function createMailSender({ query, bus, settings, log, onOutcome = () => {} }: MailSenderDeps): MailSender {
  const sending = every({ name: 'read the mail queue', log, intervalMs: idleMs, run: round });
  const running = new Set<Promise<void>>();
  const endings: (() => void)[] = [];
  let client: Promise<SmtpClient> | undefined;
  const ending = new AbortController();

  function dropClient(): void {
    client?.then((one) => one.close()).catch(() => {});
    client = undefined;
  }

  async function attempt(mail: QueuedMail): Promise<void> {
    const { id, template, recipient: to, attempts } = mail;
    const failure = await trySend(mail);
    const facts = { mail_id: id, template, to, attempt: attempts + 1 };
    if (!failure) {
      await removeMail(query, mail);
      log.info(facts, 'mail sent');
      onOutcome('sent');
    } else if (failure.isFinal) {
      await removeMail(query, mail);
      log.error({ ...facts, reason: failure.reason }, 'mail given up');
      onOutcome('given_up');
    } else {
      const delaySec = backoffSec[Math.min(attempts, backoffSec.length - 1)] ?? 0;
      await postponeMail(query, mail, delaySec);
      log.warn({ ...facts, reason: failure.reason, retry_in_sec: delaySec }, 'mail postponed');
      onOutcome('postponed');
    }
  }

  async function trySend({ id, template, recipient: to, variables }: QueuedMail): Promise<SendFailure | undefined> {
    if (!isMailableAddress(to)) return { reason: 'no mail can be sent to this address', isFinal: true };
    try {
      client ??= createSmtpClient(settings);
      const opened = await client.catch((error) => {
        // The next attempt creates another client.
        client = undefined;
        throw error;
      });
      await opened.send({ id, to, ...renderMail(settings, { template, to, variables }) }, ending.signal);
      return undefined;
    } catch (error) {
      return readSendFailure(error);
    }
  }

  async function round(): Promise<void> {
    for (const { id, template, recipient, attempts } of await removeExpiredMail(query)) {
      log.error({ mail_id: id, template, to: recipient, attempts }, 'mail expired before it was sent');
      onOutcome('given_up');
    }
    const free = maxConnections - running.size;
    if (free <= 0 || !isMailConfigured(settings)) return;
    const mails = await claimMail(query, free, leaseSec);
    for (const mail of mails) {
      const begun = attempt(mail)
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
          dropClient();
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
      dropClient();
    },
  };
}
