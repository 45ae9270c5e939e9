import { hasAccounts } from '@recordbus/accounts';
import type { AfterCommit as AfterCommitOf } from '@recordbus/journal';
import type { Collection } from '@recordbus/schema';
import { fileFieldsOf } from '../files/file-changes.ts';

/** The kinds of after-commit work that writes cause. */
export type AfterCommitWork =
  /** For new events. */
  | 'wakeRelay'
  /** For files whose record may be gone. */
  | 'sweepFiles'
  /** For tokens that may have ended. */
  | 'notifyGateways'
  /** For queued mails. */
  | 'sendMails'
  /** For new jobs of extensions. */
  | 'startJobs'
  /** For erasures that deletes caused. */
  | 'startErasures';

/** The work that is due after a write's commit. Each step in the write adds what it causes. */
export type DueWork = Set<AfterCommitWork>;

/** Starts each kind of after-commit work. Answers never wait for it. */
export type AfterCommit = AfterCommitOf<AfterCommitWork>;

/** Adds the work that follows when records are updated or deleted. */
export function addChangeWork({ due }: { readonly due: DueWork }, collection: Collection): void {
  due.add('wakeRelay');
  if (fileFieldsOf(collection).length > 0) due.add('sweepFiles');
  if (hasAccounts(collection)) due.add('notifyGateways');
}
