import { writeFileSync } from 'node:fs';
import { messageOf } from '@recordbus/errors';
import PostalMime, { type Address, type Attachment, type Email, type Mailbox } from 'postal-mime';
import type { MailParts } from '../received-mail.ts';
import type { FromParser, ToParser } from './protocol.ts';

/**
 * The process that parses mails, one at a time. It is separate from the service because a mail may make it use much
 * memory or hang. The service then ends it, and only that mail's request fails.
 */

const limits = { maxNestingDepth: 30, maxHeadersSize: 2 ** 19, maxRfc822NestingDepth: 3 };

// If the system has no memory left, the kernel ends this process rather than the service.
try {
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Only Linux has it.
}

const say = (message: FromParser): void => {
  process.send?.(message);
};

const flat = (addresses: readonly (Address | undefined)[] | undefined): Mailbox[] =>
  (addresses ?? []).flatMap((one) => (one === undefined ? [] : one.address === undefined ? (one.group ?? []) : [one]));

const partsOf = (email: Email): MailParts => ({
  messageId: email.messageId,
  inReplyTo: email.inReplyTo,
  references: email.references,
  from: flat([email.from])[0],
  replyTo: flat(email.replyTo),
  to: flat(email.to),
  cc: flat(email.cc),
  subject: email.subject,
  text: email.text,
  html: email.html,
  headers: email.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
  attachments: email.attachments.map(({ filename, mimeType, content, contentId }) => ({
    name: filename,
    type: mimeType,
    content: bytesOf(content),
    contentId: contentId ?? null,
  })),
});

function bytesOf(content: Attachment['content']): Uint8Array {
  if (typeof content === 'string') return new TextEncoder().encode(content);
  return content instanceof Uint8Array ? content : new Uint8Array(content);
}

process.on('message', ({ bytes }: ToParser) => {
  PostalMime.parse(bytes, limits)
    .then((email) => say({ kind: 'read', mail: partsOf(email) }))
    .catch((error: unknown) => {
      say({ kind: 'failed', message: messageOf(error) });
    });
});
// The service has ended.
process.on('disconnect', () => process.exit());
// Ctrl-C in a terminal is for the service, which ends this process.
process.on('SIGINT', () => {});
say({ kind: 'ready' });
