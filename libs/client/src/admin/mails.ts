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

/** A mail with its attempts. */
export interface MailDetails extends LoggedMail {
  /** When it is tried next, in unix seconds; null if it has ended. */
  readonly next_attempt: number | null;
  /** The last 100 attempts, oldest first. `error` has the mail server's words, and is null if it took the mail. */
  readonly attempt_log: readonly { readonly at: number; readonly error: string | null }[];
}

type MailFilter = PageOptions & {
  readonly state?: LoggedMail['state'];
  readonly to?: string;
  readonly template?: string;
  readonly record_id?: string;
};

const path = ['admin', 'mails'];

/** The mail log. */
export const createMails = ({ get, page, post }: Requests) => ({
  list: (filter?: MailFilter, options?: CallOptions) => page<Page<LoggedMail>>(path, filter, options),
  get: (id: string, options?: CallOptions) => get<MailDetails>([...path, id], options),
  /** Sends a waiting mail now. */
  send: (id: string, options?: CallOptions) => post<MailDetails>([...path, id, 'send'], {}, options),
});
