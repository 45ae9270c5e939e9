import type { ValueCipher } from '@recordbus/crypto';
import type { Query } from '@recordbus/database';
import { notFound, unavailable } from '@recordbus/errors';
import { createFairGate } from '@recordbus/limits/fair-gate';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import type { RequestContext } from '@recordbus/request/context';
import { currentCaller } from '@recordbus/request/request-scope';
import { createFilteredClient, type Settings } from '@recordbus/settings';
import type { RunWrite } from '../write/write-unit.ts';
import { createMailParser } from './mime/mail-parser.ts';
import { createMailgun } from './providers/mailgun.ts';
import { postmark } from './providers/postmark.ts';
import type { InboundProvider } from './providers/provider.ts';
import { createSes } from './providers/ses.ts';
import { removeOldMailKeys, storeMail } from './store-mail.ts';

/** Takes the mails that providers post. */
export interface InboundMails {
  /**
   * Takes one request. Throws 404 for a provider that is unknown or has no secret, 503 while no extension takes mails, and the
   * refusals of the provider's format.
   */
  take(request: InboundRequest): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

/** A request, its body not read yet. */
export interface InboundRequest {
  readonly provider: string;
  readonly authorization: string | undefined;
  readonly contentType: string;
  readonly context: RequestContext;
  /** Reads the body. Throws 413 for a longer one. */
  readBody(maxBytes: number): Promise<Buffer>;
}

interface InboundDeps {
  readonly settings: Settings;
  readonly cipher: ValueCipher;
  readonly write: RunWrite;
  /** Connections for background work. */
  readonly query: Query;
  /** The extensions that take mails now. */
  takers(): readonly string[];
  readonly log: Logger;
}

/** Bodies in memory at once: each may have 25 MiB. */
const places = { width: 8, widthPerClient: 4, maxWaiting: 100, maxWaitMs: 20_000 };
const removeIntervalMs = 3_600_000;

/** Creates what takes mails. */
export function createInboundMails({ settings, cipher, write, query, takers, log }: InboundDeps): InboundMails {
  const parser = createMailParser({ log });
  const client = createFilteredClient(settings, {}, 'always');
  const providers = new Map<string, InboundProvider>([
    ['postmark', postmark],
    ['mailgun', createMailgun(parser)],
    ['ses', createSes({ parser, client, log })],
  ]);
  const gate = createFairGate({ ...places, refuse: () => unavailable('too many mails come in at once') });
  const removing = every({
    name: 'remove what tells repeated mails',
    log,
    intervalMs: removeIntervalMs,
    firstAfterMs: removeIntervalMs,
    run: () => removeOldMailKeys(query, settings.get('mail.retention_days')),
  });

  return {
    async take({ provider: name, authorization, contentType, context, readBody }) {
      const provider = providers.get(name);
      const secret = provider ? secretOf(settings, name) : '';
      if (!provider || secret === '') throw notFound('mail provider');
      provider.admit?.(authorization, secret);
      if (takers().length === 0) throw unavailable('no extension takes mails: none declares onMail');
      await gate.run(currentCaller(), async () => {
        const delivery = await provider.read({ body: await readBody(provider.maxBytes), contentType, secret });
        if (delivery) await storeMail({ write, cipher }, delivery, { takers: takers(), context });
      });
    },
    start: removing.start,
    async stop() {
      await removing.stop();
      parser.stop();
      await client.close();
    },
  };
}

const secretKeys = {
  postmark: 'mail.inbound.postmark.secret',
  mailgun: 'mail.inbound.mailgun.secret',
  ses: 'mail.inbound.ses.secret',
} as const;

/** Throws 503 for a secret that cannot be decrypted: the provider repeats the mail. */
function secretOf(settings: Settings, name: string): string {
  const key = secretKeys[name as keyof typeof secretKeys];
  if (settings.isUnreadable(key)) throw unavailable('the secret cannot be decrypted');
  return settings.get(key);
}
