import type { Bus } from '@recordbus/bus';
import type { Query } from '@recordbus/database';
import type { Settings } from '@recordbus/settings';
import type { Logger } from '@recordbus/shared/logging';
import { createWakeup } from '@recordbus/shared/wakeup';
import { isMailConfigured } from './is-mail-configured.ts';
import { isMailableAddress } from './mailable-address.ts';
import { claimMail, postponeMail, type QueuedMail, removeExpiredMail, removeMail } from './queue.ts';
import { type Refusal, refusalOf } from './refusal.ts';
import { renderMail } from './render-mail.ts';
import { createSmtpClient, maxConnections, type SmtpClient, sendTimeoutMs } from './smtp-client.ts';

/** Sends the queued mail, on any number of replicas at once. */
export interface MailSender {
  start(): void;
  /** Lets what is being sent end, for a while; the rest is sent by another replica, or after the next start. */
  stop(): Promise<void>;
}

/** What came of an attempt to send a mail, or of waiting for one. */
export type MailOutcome = 'sent' | 'postponed' | 'given_up';

interface MailSenderDeps {
  readonly query: Query;
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly settings: Pick<Settings, 'get' | 'onChange'>;
  readonly log: Logger;
  readonly onOutcome?: (outcome: MailOutcome) => void;
}

/** How often a replica that heard nothing looks for itself, in milliseconds. */
const idleMs = 2000;
/** Pauses between attempts, in seconds; the last one again and again until the mail is of no use any more. */
const pausesSec = [2, 10, 60, 300, 1800];
/** A process that died with a mail in its hands is noticed after this; longer than any attempt. */
const leaseSec = (2 * sendTimeoutMs) / 1000;

const stopPatienceMs = 5000;

/** Makes the sender of this process; it does nothing before `start`. */
export function createMailSender({ query, bus, settings, log, onOutcome = () => {} }: MailSenderDeps): MailSender {
  const wakeup = createWakeup();
  const underWay = new Set<Promise<void>>();
  const endings: (() => void)[] = [];
  let client: Promise<SmtpClient> | undefined;
  const ending = new AbortController();
  let stopping = false;
  let looping = Promise.resolve();

  function forgetClient(): void {
    client?.then((one) => one.close()).catch(() => {});
    client = undefined;
  }

  async function attempt(mail: QueuedMail): Promise<void> {
    const { id, template, recipient: to, variables, attempts } = mail;
    const refusal = await trySend(mail);
    const facts = { mail_id: id, template, to, attempt: attempts + 1 };
    if (!refusal) {
      await removeMail(query, mail);
      log.info(facts, 'mail sent');
      onOutcome('sent');
    } else if (refusal.isFinal) {
      await removeMail(query, mail);
      log.error({ ...facts, reason: refusal.reason }, 'a mail was given up');
      onOutcome('given_up');
    } else {
      const delaySec = pausesSec[Math.min(attempts, pausesSec.length - 1)] ?? 0;
      await postponeMail(query, mail, delaySec);
      log.warn({ ...facts, reason: refusal.reason, retry_in_sec: delaySec }, 'a mail was not sent yet');
      onOutcome('postponed');
    }

    async function trySend({ template }: QueuedMail): Promise<Refusal | undefined> {
      if (!isMailableAddress(to)) return { reason: 'no mail can be sent to this address', isFinal: true };
      try {
        client ??= createSmtpClient(settings);
        const opened = await client.catch((error) => {
          // The next attempt makes another.
          client = undefined;
          throw error;
        });
        await opened.send({ id, to, ...renderMail(settings, { template, to, variables }) }, ending.signal);
        return undefined;
      } catch (error) {
        return refusalOf(error);
      }
    }
  }

  async function round(): Promise<void> {
    for (const { id, template, recipient, attempts } of await removeExpiredMail(query)) {
      log.error({ mail_id: id, template, to: recipient, attempts }, 'a mail was not sent in time and was given up');
      onOutcome('given_up');
    }
    const room = maxConnections - underWay.size;
    if (room <= 0 || !isMailConfigured(settings)) return;
    const mails = await claimMail(query, room, leaseSec);
    for (const mail of mails) {
      const begun = attempt(mail)
        .catch((error) => log.warn({ err: error, mail_id: mail.id }, 'what came of a mail was not recorded'))
        .finally(() => {
          underWay.delete(begun);
          wakeup.wake();
        });
      underWay.add(begun);
    }
  }

  async function loop(): Promise<void> {
    while (!stopping) {
      wakeup.reset();
      try {
        await round();
      } catch (error) {
        log.warn({ err: error }, 'the queue of mails could not be read');
      }
      await wakeup.wait(idleMs);
    }
  }

  return {
    start() {
      endings.push(
        bus.onNotice('mail', wakeup.wake),
        settings.onChange((changed) => {
          if (!changed.values().some((key) => key.startsWith('smtp.'))) return;
          forgetClient();
          wakeup.wake();
        }),
      );
      looping = loop();
    },
    async stop() {
      stopping = true;
      for (const end of endings) end();
      wakeup.wake();
      await looping;
      const patience = setTimeout(() => ending.abort(), stopPatienceMs);
      await Promise.all(underWay);
      clearTimeout(patience);
      forgetClient();
    },
  };
}
