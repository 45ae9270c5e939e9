import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { eventually } from '../eventually.ts';

/** A received mail. */
export interface ReceivedMail {
  /** The envelope's recipient. */
  readonly recipients: readonly string[];
  readonly email: Email;
  /** The mail as it came: head and body. */
  readonly raw: string;
  /** The token in its link and the six-digit code, if any. */
  readonly token: string | undefined;
  readonly code: string | undefined;
}

/**
 * An SMTP server that records mails. How a recipient's address begins says what happens:
 *
 * - `refuse`: refused for good.
 * - `later`: refused for now, once.
 * - `busy`: refused for now, always.
 * - `stall`: never answered, once. The dialogue stops before the mail.
 * - `held`: recorded and never answered, once. The client cannot know that the mail was taken.
 */
export interface MailServer extends AsyncDisposable {
  readonly port: number;
  readonly received: readonly ReceivedMail[];
  /** The recipients that clients asked for, in order, refused ones included. */
  readonly asked: readonly string[];
  /** The settings that send the product's mail here. */
  readonly settings: Readonly<Record<string, string>>;
  /** Waits for `count` mails to an address, with the given subject if any, and returns the newest. */
  mailTo(address: string, wanted?: { readonly subject?: string; readonly count?: number }): Promise<ReceivedMail>;
}

/** Starts a mail server on a free port. */
export async function startMailServer(): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const asked: string[] = [];
  const once = new Set<string>();
  const isFirst = (address: string, beginning: string) =>
    address.startsWith(beginning) && !once.has(address) && once.add(address);
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 500,
    logger: false,
    onRcptTo({ address }, _session, done) {
      asked.push(address);
      if (isFirst(address, 'stall')) return;
      if (address.startsWith('busy') || isFirst(address, 'later'))
        done(Object.assign(new Error('try again later'), { responseCode: 451 }));
      else if (!address.startsWith('refuse')) done();
      else done(Object.assign(new Error('no such user here'), { responseCode: 550 }));
    },
    onData(stream, session, done) {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of stream) chunks.push(Buffer.from(chunk));
        const raw = Buffer.concat(chunks);
        const email = await PostalMime.parse(raw);
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        received.push({
          recipients,
          email,
          raw: raw.toString(),
          token: /[?&]token=([\w.-]+)/.exec(email.text ?? '')?.[1],
          code: /\b\d{6}\b/.exec(email.text ?? '')?.[0],
        });
        if (!recipients.some((address) => isFirst(address, 'held'))) done();
      })().catch(done);
    },
  });
  // A disconnected client does not matter to the test.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    port,
    received,
    asked,
    settings: {
      'smtp.enabled': '1',
      'smtp.host': '127.0.0.1',
      'smtp.port': String(port),
      'smtp.from': 'The Office <office@example.com>',
      'app.url': 'https://app.example.com',
    },
    mailTo: (address, { subject, count = 1 } = {}) =>
      eventually(`mail to ${address}`, () => {
        const found = received.filter(
          ({ recipients, email }) =>
            recipients.includes(address) && (subject === undefined || email.subject === subject),
        );
        return found.length >= count && found.at(-1);
      }),
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
