import type { Settings } from '@recordbus/settings';
import { mailedForm } from './mailable-address.ts';
import type { Mailbox, MessageContent } from './message.ts';
import type { RenderedMail } from './render-mail.ts';
import { requiresTls } from './requires-tls.ts';

/** Sends mail to the server in the settings. */
export interface SmtpClient {
  /** Resolves when the server accepts the mail. Rejects with an error for `readSendFailure`, even when `end` aborts. */
  send(mail: OutgoingMail, end?: AbortSignal): Promise<void>;
  /** Closes idle connections at once and the others after their current mail. */
  close(): void;
}

/** A mail for one recipient. */
export interface OutgoingMail extends RenderedMail {
  readonly recipient: string;
  /** What only messages have. */
  readonly message?: Pick<MessageContent, 'to' | 'cc' | 'replyTo' | 'headers' | 'messageId' | 'attachments'>;
  /** Unique to the mail and the same in every attempt, so that a receiver can detect duplicates. */
  readonly id: string;
}

/** The timeout for connecting, for the greeting, and for each pause by the server. */
const stepTimeoutMs = 10_000;
/** One mail's timeout. */
export const sendTimeoutMs = 30_000;
export const maxConnections = 5;

/** Loads the library, which would slow a service's start. */
export const loadMailer = () => import('nodemailer');

/** Creates a client with a connection pool, for the current settings. */
export async function createSmtpClient(settings: Pick<Settings, 'get'>): Promise<SmtpClient> {
  const { createTransport } = await loadMailer();
  const user = settings.get('smtp.user');
  const from = settings.get('smtp.from');
  const transport = createTransport({
    pool: true,
    maxConnections,
    maxRequeues: 0,
    host: settings.get('smtp.host'),
    port: settings.get('smtp.port'),
    secure: settings.get('smtp.secure'),
    requireTLS: requiresTls(settings),
    ...(user !== '' && { auth: { user, pass: settings.get('smtp.pass') } }),
    connectionTimeout: stepTimeoutMs,
    greetingTimeout: stepTimeoutMs,
    socketTimeout: stepTimeoutMs,
    dnsTimeout: stepTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = messageIdDomain(from);
  return {
    async send({ recipient, id, subject, text, html, message }, end) {
      const timeout = AbortSignal.timeout(sendTimeoutMs);
      const address = mailedForm(recipient);
      await transport.sendMail({
        from,
        // An object, because a text would be split at its commas.
        to: message ? message.to.map(mailed) : { name: '', address },
        cc: message?.cc.map(mailed),
        replyTo: message?.replyTo.map(mailed),
        envelope: { from: addressOf(from), to: [address] },
        subject,
        text,
        html,
        messageId: message?.messageId ?? `<${id}@${domain}>`,
        headers: headersOf(message?.headers ?? {}),
        attachments: message?.attachments.map(({ name, type, content }) => ({
          filename: name,
          contentType: type,
          content: Buffer.from(content),
        })),
        signal: end ? AbortSignal.any([timeout, end]) : timeout,
      });
    },
    close: () => transport.close(),
  };
}

/** Adds the header that suppresses automatic replies (RFC 3834 §5, mail §2.6), unless a message has it itself. */
const headersOf = (given: Readonly<Record<string, string>>): Record<string, string> =>
  Object.keys(given).some((name) => name.toLowerCase() === 'auto-submitted')
    ? { ...given }
    : { 'Auto-Submitted': 'auto-generated', ...given };

const mailed = ({ name, address }: Mailbox): Mailbox => ({ name, address: mailedForm(address) });

/** Returns the domain for the ids of mails from a sender. */
export const messageIdDomain = (from: string): string => addressOf(from).split('@')[1] ?? 'localhost';

/** Returns the address in `Name <address>`. */
const addressOf = (mailbox: string): string => /<([^<>]+)>\s*$/.exec(mailbox)?.[1] ?? mailbox.trim();
