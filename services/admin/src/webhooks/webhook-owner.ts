import type { Query } from '@recordbus/database';
import { notFound, validationFailed } from '@recordbus/errors';
import { type Collection, tableOf } from '@recordbus/schema';
import { findOwnerUrlProblem, type WebhookOwners } from '@recordbus/settings';
import { z } from 'zod';

/** The record that owns a webhook, as the API names it (webhooks §9.1). */
export const webhookOwner = z.strictObject(
  { collection: z.string('must be a string'), id: z.string('must be a string') },
  'must be null or {collection, id}',
);

/** The owner, with its collection and what the setting lets its webhooks do. */
export interface Owner {
  readonly collection: Collection;
  readonly id: string;
  readonly owners: WebhookOwners;
}

/** SQL: a webhook's owner as the API shows it. */
export const ownerColumn = `case when owner_collection is not null then json_build_object(
    'collection', (select c.name from system.collections c where c.id = owner_collection), 'id', owner_id
  ) end as owner`;

/** Sets a new webhook's owner. Throws 422 if the owner has the most webhooks already. Must run in a transaction. */
export async function setOwner(query: Query, id: string, { collection, id: ownerId, owners }: Owner): Promise<void> {
  await lockOwner(query, collection, ownerId);
  const [row] = await query<{ count: number }>({
    text: 'select count(*) from system.webhooks where owner_collection = $1 and owner_id = $2',
    values: [collection.id, ownerId],
  });
  if ((row?.count ?? 0) >= owners.max)
    throw validationFailed({ owner: `has ${owners.max} webhooks already, the most` });
  await query({
    text: 'update system.webhooks set owner_collection = $2, owner_id = $3 where id = $1',
    values: [id, collection.id, ownerId],
  });
}

/** Locks the record, so that two webhooks are not created for it at once. Throws 404 if it does not exist. */
async function lockOwner(query: Query, collection: Collection, id: string): Promise<void> {
  const [row] = await query({
    text: `select id from ${tableOf(collection)} where id = $1 for no key update`,
    values: [id],
  });
  if (!row) throw notFound('owner');
}

/** Throws 422 for a URL or a pattern that webhooks of such owners may not have (webhooks §9.1). */
export function checkOwned(
  { owners, collection }: Pick<Owner, 'owners' | 'collection'>,
  { url, events = [] }: { readonly url?: string | undefined; readonly events?: readonly string[] | undefined },
): void {
  const urlProblem = !url ? undefined : findOwnerUrlProblem(owners, url);
  const refused = events.find((pattern) => !isWithin(pattern, owners.events));
  const problems = {
    ...(urlProblem !== undefined && { url: urlProblem }),
    ...(refused !== undefined && {
      events: `records in ${collection.name} may not get ${JSON.stringify(refused)}, only ${owners.events.join(', ')}`,
    }),
  };
  if (Object.keys(problems).length > 0) throw validationFailed(problems);
}

/** Whether every event that the pattern names is allowed. */
const isWithin = (pattern: string, allowed: readonly string[]): boolean =>
  allowed.some((one) => one === '*' || one === pattern || (one.endsWith('.*') && pattern.startsWith(one.slice(0, -1))));
