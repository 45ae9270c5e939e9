import type { Query } from '@recordbus/database';
import { notFound } from '@recordbus/errors';
import type { RouteInput } from '@recordbus/http';
import type { LogReader } from '../webhooks/delivery-store.ts';
import { type OwnerAccessDeps, portalHeader, requireManager } from '../webhooks/owner-access.ts';
import type { Owner } from '../webhooks/webhook-owner.ts';
import { newOwnedWebhook, newWebhook } from '../webhooks/webhook-schema.ts';

type PlacedInput = Pick<
  RouteInput<{ readonly id?: string }, unknown, unknown>,
  'params' | 'context' | 'queryText' | 'header'
>;

/** Where webhooks are managed: all of them by admins, or one owner's by those who manage it. */
export interface WebhookPlace {
  readonly path: string;
  readonly access: 'admin' | 'public';
  /** The header with the session of a caller without a token. */
  readonly sessionHeader?: string;
  /** Who reads the delivery log there. */
  readonly reader: LogReader;
  /** A create's body. */
  readonly bodies: { readonly create: typeof newWebhook | typeof newOwnedWebhook };
  /** Text for the routes' summaries. */
  readonly whose: string;
  /**
   * Returns the owner whose webhooks the caller manages; undefined for admins, who manage all. Throws 401 and 404 for other
   * callers, and 404 if the path names another owner's webhook.
   */
  admit(input: PlacedInput): Promise<Owner | undefined>;
}

/** The routes for admins (webhooks §1.1). */
export const adminPlace: WebhookPlace = {
  path: '/api/v1/admin/webhooks',
  access: 'admin',
  reader: 'admin',
  whose: '',
  bodies: { create: newWebhook },
  admit: async () => undefined,
};

/** The routes for those who manage an owner's webhooks (webhooks §9.6). */
export const ownerPlace = (deps: OwnerAccessDeps): WebhookPlace => ({
  path: '/api/v1/webhooks',
  access: 'public',
  sessionHeader: portalHeader,
  reader: 'manager',
  bodies: { create: newOwnedWebhook },
  whose: ' that the record in `owner` owns',
  async admit(input) {
    const owner = await requireManager(deps, input);
    if (input.params.id !== undefined) await requireOwned(deps.query, owner, input.params.id);
    return owner;
  },
});

async function requireOwned(query: Query, { collection, id }: Owner, webhookId: string): Promise<void> {
  const rows = await query({
    text: 'select id from system.webhooks where id = $1 and owner_collection = $2 and owner_id = $3',
    values: [webhookId, collection.id, id],
  });
  if (rows.length === 0) throw notFound('webhook');
}
