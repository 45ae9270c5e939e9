import type { Query } from '@recordbus/database';
import { enqueueMail, isMailConfigured } from '@recordbus/mail';
import { createGuessLimit } from '@recordbus/passwords';
import type { Settings } from '@recordbus/settings';
import { type AddressDeps, findOwnerAddress, type OwnerAddress } from '../owners/owner-address.ts';

export interface OwnerMailDeps extends AddressDeps {
  readonly settings: AddressDeps['settings'] & Pick<Settings, 'get'>;
}

/** An owner's webhook, and who gets the mails about it. */
export interface Recipient extends OwnerAddress {
  readonly ownerId: string;
  readonly collectionId: string;
  /** The webhook's name. */
  readonly webhook: string;
  /** The host that the webhook calls. Its path may be secret. */
  readonly host: string;
}

/** The most mails with one template for an owner, and for an address over all owners. */
const limit = { max: 5, windowSec: 15 * 60 };

/** A mail that cannot be sent within a day is dropped. */
const usefulForSec = 24 * 3600;

/** Finds who gets the mails about a webhook. Undefined if nobody does, or if mail is not configured. */
export async function findRecipient(deps: OwnerMailDeps, webhookId: string): Promise<Recipient | undefined> {
  if (!isMailConfigured(deps.settings)) return undefined;
  const [row] = await deps.query<{ name: string; url: string; collectionId: string; ownerId: string }>({
    name: 'owner-mail.webhook',
    text: `select name, url, owner_collection as "collectionId", owner_id as "ownerId" from system.webhooks
      where id = $1 and owner_collection is not null`,
    values: [webhookId],
  });
  const address = row && (await findOwnerAddress(deps, { collectionId: row.collectionId, id: row.ownerId }));
  if (!address) return undefined;
  return {
    ...address,
    ownerId: row.ownerId,
    collectionId: row.collectionId,
    webhook: row.name,
    host: new URL(row.url).host,
  };
}

/** What the mail tells. */
type OwnerMail =
  | { readonly template: 'webhook_failing'; readonly since: string }
  | { readonly template: 'webhook_disabled'; readonly reason: string };

/** Queues a mail in the transaction of its cause. Beyond the limit it does nothing: the owner has got several of them. */
export async function queueOwnerMail(query: Query, recipient: Recipient, mail: OwnerMail): Promise<void> {
  const { ownerId, collectionId, to, collection, lang, webhook, host } = recipient;
  const { tryReserve } = createGuessLimit({ database: { query }, nowSec: () => Math.floor(Date.now() / 1000) });
  for (const key of [`of ${ownerId}`, `to ${to.toLowerCase()}`])
    if (!(await tryReserve({ key: `mails ${mail.template} ${key}`, ...limit }))) return;
  const about = { collectionId, recordId: ownerId };
  await enqueueMail(query, { ...mail, to, collection, about, lang, webhook, host, usefulForSec });
}

/** A time for mails, such as `2026-01-31 14:05 UTC`. */
export const utcText = (sec: number): string =>
  `${new Date(sec * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
