import type { Page, PageOptions } from '../records/options.ts';
import type { CallOptions } from '../transport.ts';
import type { Requests } from './requests.ts';

/** A mail, and what became of it (mail §4.1). */
export interface LoggedMail {
  readonly id: string;
  readonly to: string;
  readonly template: string;
  readonly state: 'waiting' | 'sent' | 'dead';
  readonly attempts: number;
  /** The mail server's words, or why the mail was given up. */
  readonly last_error: string | null;
  readonly collection_id: string | null;
  /** The record that the mail is about, such as the account. */
  readonly record_id: string | null;
  /** Unix seconds. */
  readonly created: number;
  readonly finished: number | null;
}

type MailFilter = PageOptions & {
  readonly state?: LoggedMail['state'];
  readonly to?: string;
  readonly template?: string;
  readonly record_id?: string;
};

/** The mail log. */
export const createMails = ({ page }: Requests) => ({
  list: (filter?: MailFilter, options?: CallOptions) => page<Page<LoggedMail>>(['admin', 'mails'], filter, options),
});
