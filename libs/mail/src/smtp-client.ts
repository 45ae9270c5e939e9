import type { Settings } from '@recordbus/settings';
import type { RenderedMail } from './render-mail.ts';

/** Sends mail to the server that the settings name. */
export interface SmtpClient {
  /** Resolves when the server took the mail; throws what stood against it (see `refusalOf`), or when `end` says so. */
  send(mail: OutgoingMail, end?: AbortSignal): Promise<void>;
  /** Ends idle connections at once and the others after what they send. */
  close(): void;
}

/** A mail for one recipient. */
interface OutgoingMail extends RenderedMail {
  readonly to: string;
  /** Unique, and the same each time this mail is tried: a receiver that got it already can tell. */
  readonly id: string;
}

/** Of connecting, greeting, and each pause of the server, in milliseconds. */
const patienceMs = 10_000;
/** Of one mail from its first byte to the server's last word, in milliseconds. */
export const sendTimeoutMs = 30_000;
export const maxConnections = 5;

/** Makes a client with connections that are kept, for the settings as they are now. */
export async function createSmtpClient(settings: Pick<Settings, 'get'>): Promise<SmtpClient> {
  // Loaded here: who sends no mail need not wait for it at the start.
  const { createTransport } = await import('nodemailer');
  const user = settings.get('smtp.user');
  const from = settings.get('smtp.from');
  const transport = createTransport({
    pool: true,
    maxConnections,
    maxRequeues: 0,
    host: settings.get('smtp.host'),
    port: settings.get('smtp.port'),
    secure: settings.get('smtp.secure'),
    ...(user !== '' && { auth: { user, pass: settings.get('smtp.pass') } }),
    connectionTimeout: patienceMs,
    greetingTimeout: patienceMs,
    socketTimeout: patienceMs,
    dnsTimeout: patienceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = addressOf(from).split('@')[1] ?? 'localhost';
  return {
    async send({ to, id, subject, text, html }, end) {
      const timeout = AbortSignal.timeout(sendTimeoutMs);
      await transport.sendMail({
        from,
        // An object, not a text that would be taken apart at its commas.
        to: { name: '', address: to },
        envelope: { from: addressOf(from), to: [to] },
        subject,
        text,
        html,
        messageId: `<${id}@${domain}>`,
        // Nobody's holiday answer shall come back (RFC 3834 §5).
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: end ? AbortSignal.any([timeout, end]) : timeout,
      });
    },
    close: () => transport.close(),
  };
}

/** The address in `Name <address>`. */
const addressOf = (mailbox: string): string => /<([^<>]+)>\s*$/.exec(mailbox)?.[1] ?? mailbox.trim();
