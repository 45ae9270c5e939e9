import { type AccountChange, findUserById } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import { enqueueMail, findLanguage, isMailConfigured, type Mail } from '@recordbus/mail';
import type { Collection } from '@recordbus/schema';
import type { AuthParts } from '../auth-parts.ts';
import { reserveNotice } from '../verification/mail-limit.ts';
import { canReceiveMail } from '../verification/verification.ts';
import { issueUndo, isUndoAddress } from './undo-email-change.ts';

type Parts = Pick<AuthParts, 'settings' | 'nowSec'>;

/** A notice that cannot be sent within a day is dropped. */
const usefulForSec = 24 * 60 * 60;

/**
 * Queues the mail that notifies an account's holder about a change, in the caller's transaction (identity §5.3). After
 * an address change the old address gets an undo link. If the old address was not proved, its link becomes void once
 * the new address is proved: the old address may be a typo, and its owner must not take over the account from the
 * person who corrected it.
 */
export async function notifyHolder(
  query: Query,
  parts: Parts,
  collection: Collection,
  change: AccountChange,
): Promise<void> {
  const { email: to, accountId, data } = change;
  if (!isMailConfigured(parts.settings) || !canReceiveMail({ email: to, isAnonymous: false })) return;
  const account = await findUserById(query, collection, accountId);
  const undo = account && (await findUndo(query, parts, change));
  const about = { collectionId: collection.id, recordId: accountId };
  const lang = account && findLanguage(parts.settings, collection.name, account.record);
  const addressed = { to, collection: collection.name, about, lang, usefulForSec };
  const notice = noticeOf(change, addressed);
  const counted = { to, accountId, collectionId: collection.id, isProved: data.isProved };
  const template = undo ? 'change_undo' : notice.template;
  // A lasting undo link is not counted: each needs a newly proved address, and a limit would let an attacker suppress
  // it (identity §6.2).
  if (!undo?.isLasting && !(await reserveNotice(query, parts, { template, ...counted }))) return;
  await enqueueMail(query, undo ? await undoMail(query, parts, collection, { undo, addressed }) : notice);
}

type EmailChange = Extract<AccountChange, { kind: 'email' }>;

/** An address change that the mail lets the old address undo. */
interface Undo {
  readonly change: EmailChange;
  /** Whether the link stays valid when another address is proved. */
  readonly isLasting: boolean;
}

/** A deleted account has none. */
async function findUndo(query: Query, { nowSec }: Parts, change: AccountChange): Promise<Undo | undefined> {
  if (change.kind !== 'email') return undefined;
  const { accountId, data } = change;
  if (!data.isUndoable && !data.isUndoableUntilProved) return undefined;
  if (await isUndoAddress(query, accountId, data.newEmail, nowSec())) return undefined;
  return { change, isLasting: data.isUndoable };
}

type Addressed = Pick<Exclude<Mail, { template: 'own' }>, 'to' | 'collection' | 'about' | 'lang' | 'usefulForSec'>;

async function undoMail(
  query: Query,
  { nowSec }: Parts,
  { id: collectionId }: Collection,
  { undo, addressed }: { readonly undo: Undo; readonly addressed: Addressed },
): Promise<Mail> {
  const { id: changeId, accountId, email, changedAtSec, data } = undo.change;
  const undoable = { collectionId, accountId, email, changeId, changedAtSec, untilProved: !undo.isLasting };
  const token = await issueUndo(query, undoable, nowSec());
  return { template: 'change_undo', ...addressed, newEmail: data.newEmail, token };
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
    passkeys: 'one or more passkeys',
  };
  return { template: 'removed_notice', ...addressed, removed: removed.map((way) => names[way]).join(', ') } as const;
}
