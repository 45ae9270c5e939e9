import type { AnySchema } from './schema.ts';
import type { HandlerTools } from './tools.ts';

/** A mailbox as a mail names it. Who wrote the mail chose the name. */
export interface MailAddress {
  /** Empty if there is none. */
  readonly name: string;
  readonly address: string;
}

/** A file in a mail. Its name and type are what the mail says. */
export interface IncomingAttachment {
  /** Without folders and control characters; null if the mail names none. */
  readonly name: string | null;
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** Null for what does not fit into the 10 MiB that a mail's attachments have together. */
  readonly content: Uint8Array | null;
  /** What the HTML calls it, without `cid:` and brackets. */
  readonly content_id: string | null;
}

/**
 * A mail that came in. The provider's signature says that the provider sent it: who wrote the mail chose everything in it,
 * `from` included.
 */
export interface IncomingMail {
  /** The same in every attempt: the guard for work that must happen once. */
  readonly id: string;
  readonly provider: 'postmark' | 'mailgun' | 'ses';
  /** From 1. */
  readonly attempt: number;
  /** The header Message-ID, with its brackets. */
  readonly message_id: string | null;
  /** The header In-Reply-To: the mail that this one answers. */
  readonly in_reply_to: string | null;
  /** The ids in References, the oldest first. */
  readonly references: readonly string[];
  readonly from: MailAddress | null;
  readonly reply_to: readonly MailAddress[];
  readonly to: readonly MailAddress[];
  readonly cc: readonly MailAddress[];
  /** The addresses at which it came in, as the provider says: those of blind copies too. */
  readonly recipients: readonly string[];
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  /** All headers in order. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly attachments: readonly IncomingAttachment[];
  /** Whether a text was cut, headers were left out, or an attachment has no content, because it was too large. */
  readonly incomplete: boolean;
  /** When it came in, in Unix seconds. */
  readonly received: number;
}

/** Takes a mail that came in. It runs as a job: again when it throws, and at least once for each mail. */
export type MailHook<S = AnySchema> = (mail: IncomingMail, tools: HandlerTools<S>) => Promise<void> | void;
