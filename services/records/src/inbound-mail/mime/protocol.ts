import type { MailParts } from '../received-mail.ts';

/** What the service sends to the process: a mail in its raw form (RFC 5322). */
export interface ToParser {
  readonly bytes: Uint8Array;
}

/** What the process answers. */
export type FromParser =
  | { readonly kind: 'ready' }
  | { readonly kind: 'read'; readonly mail: MailParts }
  /** It nests too deep, or its headers are too large. */
  | { readonly kind: 'failed'; readonly message: string };
