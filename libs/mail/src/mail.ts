/** The mails that the product sends by itself; each has its settings `email.<template>.subject` and `.body`. */
export type SettingsTemplate = 'verify' | 'reset' | 'otp' | 'change' | 'change_notice';

/** `own` is a mail that brings its words along. */
export type MailTemplate = SettingsTemplate | 'own';

interface Addressed {
  /** Address of one recipient. */
  readonly to: string;
  /** Name of the collection that the account is in. */
  readonly collection: string;
  /** Seconds after which the mail is of no use: it is not sent later than that. At most a day counts. */
  readonly usefulForSec: number;
}

/** A mail to be sent, by its template. */
export type Mail =
  /** `token` is what the link carries. */
  | (Addressed & { readonly template: 'verify' | 'reset' | 'change'; readonly token: string })
  /** `code` is for typing in, `token` for the link. */
  | (Addressed & { readonly template: 'otp'; readonly token: string; readonly code: string })
  /** To the old address, after the account got `newEmail`. */
  | (Addressed & { readonly template: 'change_notice'; readonly newEmail: string })
  | (Omit<Addressed, 'collection'> & {
      readonly template: 'own';
      readonly subject: string;
      readonly text: string;
      readonly html?: string | undefined;
    });
