import { findUserById } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import { enqueueMail, isMailConfigured, type Mail } from '@recordbus/mail';
import type { Collection } from '@recordbus/schema';
import type { AuthParts } from '../auth-parts.ts';
import { reserveMail } from '../verification/mail-limit.ts';
import { canReceiveMail } from '../verification/verification.ts';
import type { AccountChange } from './account-changes.ts';
import { issueUndo, isUndoAddress } from './undo-email-change.ts';

type Parts = Pick<AuthParts, 'settings' | 'nowSec'>;

/** A notice that cannot be sent within a day is dropped. */
const usefulForSec = 24 * 60 * 60;

/**
 * Queues the mail that notifies the holder of an account of a change, in the caller's transaction (identity §5.3).
 * After a change of address the old address gets an undo link only if it was proved: with the link, the owner of an
 * unproved address, such as a mistyped one, could take over another person's account.
 */
export async function notifyHolder(
  query: Query,
  parts: Parts,
  collection: Collection,
  change: AccountChange,
): Promise<void> {
  const { email: to, accountId } = change;
  if (!isMailConfigured(parts.settings) || !canReceiveMail({ email: to, isAnonymous: false })) return;
  const addressed = { to, collection: collection.name, usefulForSec };
  const undo = await undoMail(query, parts, collection, change, addressed);
  // Not counted: each takes a new proof of an address, and a limit would let an attacker suppress it (identity §6.2).
  if (undo) return enqueueMail(query, undo);
  const notice = noticeOf(change, addressed);
  if (await reserveMail(query, parts, { template: notice.template, to, accountId })) await enqueueMail(query, notice);
}

type Addressed = Pick<Mail & { readonly collection: string }, 'to' | 'collection' | 'usefulForSec'>;

async function undoMail(
  query: Query,
  { nowSec }: Parts,
  collection: Collection,
  change: AccountChange,
  addressed: Addressed,
): Promise<Mail | undefined> {
  if (change.kind !== 'email' || !change.data.isUndoable) return undefined;
  const { id: changeId, accountId, email, changedAtSec } = change;
  const { newEmail } = change.data;
  if (!(await findUserById(query, collection, accountId))) return undefined;
  if (await isUndoAddress(query, accountId, newEmail, nowSec())) return undefined;
  const undoable = { collectionId: collection.id, accountId, email, changeId, changedAtSec };
  const token = await issueUndo(query, undoable, nowSec());
  return { template: 'change_undo', ...addressed, newEmail, token };
}

function noticeOf(change: AccountChange, addressed: Addressed) {
  if (change.kind === 'email')
    return { template: 'change_notice', ...addressed, newEmail: change.data.newEmail } as const;
  if (change.kind === 'password') return { template: 'password_notice', ...addressed } as const;
  const { removed, providers } = change.data;
  const names = {
    password: 'the password',
    totp: 'the authenticator app',
    links: `sign-in with ${providers.join(', ')}`,
  };
  return { template: 'removed_notice', ...addressed, removed: removed.map((way) => names[way]).join(', ') } as const;
}
