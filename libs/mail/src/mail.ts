/** The product's templates (mail §2.2); each has the settings `email.<template>.subject` and `.body`. */
export type SettingsTemplate =
  | 'verify'
  | 'reset'
  | 'otp'
  | 'mfa'
  | 'change'
  | 'change_notice'
  | 'change_undo'
  | 'password_notice'
  | 'removed_notice'
  | 'webhook_failing'
  | 'webhook_disabled';

/**
 * `message` is a mail that carries its own text (mail §5). `own` is the same as the version before queued it, with its
 * subject and text as variables.
 */
export type MailTemplate = SettingsTemplate | 'message' | 'own';

/** The record that a mail is about: the account, or the owner. The log has it (mail §4.1). */
export interface MailSubject {
  readonly collectionId: string;
  readonly recordId: string;
}

interface Addressed {
  /** One recipient's address. */
  readonly to: string;
  /** The name of the collection that has the account, or the owner. */
  readonly collection: string;
  readonly about: MailSubject;
  /** The language that the recipient reads, as `findLanguage` returns it. */
  readonly lang?: string | undefined;
  /** Seconds after which the mail is no longer sent; at most a day. */
  readonly usefulForSec: number;
}

/** A mail to send, by its template. */
export type Mail =
  /** `token` is the link's token. */
  | (Addressed & { readonly template: 'verify' | 'reset' | 'change'; readonly token: string })
  /** `code` is for typing, `token` for the link. */
  | (Addressed & { readonly template: 'otp'; readonly token: string; readonly code: string })
  /** `code` is for the second step of a sign-in (auth §6.11). */
  | (Addressed & { readonly template: 'mfa'; readonly code: string })
  /** To the old address, after the account's address became `newEmail`. */
  | (Addressed & { readonly template: 'change_notice'; readonly newEmail: string })
  /** The same with a link; `token` undoes the change. */
  | (Addressed & { readonly template: 'change_undo'; readonly newEmail: string; readonly token: string })
  | (Addressed & { readonly template: 'password_notice' })
  /** `removed` names the ways to sign in that the account lost. */
  | (Addressed & { readonly template: 'removed_notice'; readonly removed: string })
  /** To a webhook's owner. `host` is the one that the webhook calls; `since` is a time as text. */
  | (Addressed & {
      readonly template: 'webhook_failing';
      readonly webhook: string;
      readonly host: string;
      readonly since: string;
    })
  /** `reason` says why, as a part of a sentence. */
  | (Addressed & {
      readonly template: 'webhook_disabled';
      readonly webhook: string;
      readonly host: string;
      readonly reason: string;
    });
