import { verify } from 'node:crypto';
import { isSameText } from '@recordbus/crypto/is-same-text';
import type { EgressClient } from '@recordbus/egress';
import { AppError } from '@recordbus/errors';
import type { Logger } from '@recordbus/process/logging';
import { z } from 'zod';
import type { MailParser } from '../mime/mail-parser.ts';
import { receivedMail, unreadable } from '../received-mail.ts';
import { checkTime, type Delivery, type InboundProvider, notProved, readJson } from './provider.ts';
import { createSnsCertificates, type SnsCertificates } from './sns-certificates.ts';
import { readSnsMessage, type SnsMessage, signedText, snsHostOf } from './sns-message.ts';

interface SesDeps {
  readonly parser: Pick<MailParser, 'parse'>;
  /** Filters always, whatever the settings say. */
  readonly client: Pick<EgressClient, 'request'>;
  readonly log: Logger;
}

/** https://docs.aws.amazon.com/ses/latest/dg/receiving-email-notifications-contents.html */
const notification = z.looseObject({
  notificationType: z.string(),
  content: z.string().optional(),
  mail: z.looseObject({ messageId: z.string().min(1).max(200) }).optional(),
  receipt: z
    .looseObject({
      recipients: z.array(z.string()).optional(),
      action: z.looseObject({ encoding: z.string().optional() }).optional(),
    })
    .optional(),
});

/**
 * Amazon SES by SNS: the setting has the topic, whose messages alone are taken. SNS signs each message with a certificate of the
 * topic's region (mail §6.4).
 */
export function createSes({ parser, client, log }: SesDeps): InboundProvider {
  const certificates = createSnsCertificates(client);
  return {
    // SNS sends at most 256 KiB, SES 150 KiB of a mail.
    maxBytes: 2 ** 20,
    async read({ body, secret: topic }) {
      const message = readSnsMessage(body);
      const host = await checkMessage(message, topic, certificates);
      if (message.Type === 'SubscriptionConfirmation') await confirm(client, message, host);
      if (message.Type !== 'Notification') {
        log.info({ topic, type: message.Type }, 'Amazon SNS has changed the subscription for mails that come in');
        return undefined;
      }
      return readNotification(message, parser, log);
    },
  };
}

/** Returns the host of the topic. Throws 401 for a message of another topic, an old one, and one that SNS has not signed. */
async function checkMessage(message: SnsMessage, topic: string, certificates: SnsCertificates): Promise<string> {
  const host = snsHostOf(topic);
  if (host === undefined || !isSameText(message.TopicArn, topic))
    throw notProved('the message is not from the topic in mail.inbound.ses.secret');
  checkTime(Date.parse(message.Timestamp) / 1000);
  const key = await certificates.keyAt(message.SigningCertURL, host);
  const algorithm = message.SignatureVersion === '1' ? 'sha1' : 'sha256';
  const signature = Buffer.from(message.Signature, 'base64');
  if (!verify(algorithm, Buffer.from(signedText(message)), key, signature))
    throw notProved('Amazon SNS has not signed this message');
  return host;
}

/** Confirms the subscription, at the topic's host only: `SubscribeURL` is never called. Throws 502 if SNS refuses. */
async function confirm(client: Pick<EgressClient, 'request'>, message: SnsMessage, host: string): Promise<void> {
  const query = new URLSearchParams({
    Action: 'ConfirmSubscription',
    TopicArn: message.TopicArn,
    Token: message.Token ?? '',
  });
  const failed = (cause?: unknown) =>
    new AppError(502, 'subscription_not_confirmed', 'Amazon SNS did not confirm the subscription', { cause });
  const { status } = await client
    .request(`https://${host}/?${query}`, { method: 'GET', timeoutMs: 10_000, maxBodyBytes: 64 * 1024 })
    .catch((error: unknown) => {
      throw failed(error);
    });
  if (status !== 200) throw failed();
}

async function readNotification(
  { Message, MessageId }: SnsMessage,
  parser: Pick<MailParser, 'parse'>,
  log: Logger,
): Promise<Delivery | undefined> {
  const read = notification.safeParse(Message.startsWith('{') ? readJson(Message, 'Message') : undefined);
  // The test that SES sends when it is set up, and notices about mails that were sent.
  if (!read.success || read.data.notificationType !== 'Received') {
    log.info({ id: MessageId }, 'Amazon SNS has sent a message that is not a mail');
    return undefined;
  }
  const { content, mail, receipt } = read.data;
  if (content === undefined || !mail)
    throw unreadable('it is not in the message; let the receipt rule publish it to SNS with its content');
  const encoding = receipt?.action?.encoding?.toUpperCase() === 'BASE64' ? 'base64' : 'utf8';
  const parts = await parser.parse(Buffer.from(content, encoding));
  return {
    mail: receivedMail(parts, { provider: 'ses', recipients: receipt?.recipients ?? [] }),
    messageKey: mail.messageId,
  };
}
