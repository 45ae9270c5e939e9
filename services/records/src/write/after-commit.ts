import type { Collection } from '@recordbus/schema';
import { hasAccounts } from '../accounts/new-account.ts';
import { fileFieldsOf } from '../files/file-changes.ts';

/** The after-commit work of writes. Answers never wait for it. */
export interface AfterCommit {
  /** For new events. */
  wakeRelay(): void;
  /** For files whose record may be gone. */
  sweepFiles(): void;
  /** For tokens that may have ended. */
  notifyGateways(): void;
  /** For queued mails. */
  sendMails(): void;
}

/** The work that is due after the commit of a write. Each step of the write adds what it causes. */
export type DueWork = Set<keyof AfterCommit>;

/** Starts the work that is due, each kind once. */
export function doDueWork(afterCommit: AfterCommit, due: DueWork): void {
  for (const name of due) afterCommit[name]();
}

/** Adds the work that follows an update or delete of records. */
export function addChangeWork({ due }: { readonly due: DueWork }, collection: Collection): void {
  due.add('wakeRelay');
  if (fileFieldsOf(collection).length > 0) due.add('sweepFiles');
  if (hasAccounts(collection)) due.add('notifyGateways');
}
