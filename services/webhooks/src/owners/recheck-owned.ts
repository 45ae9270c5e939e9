import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import type { LeasedDelivery } from '../delivery/claim.ts';
import { judgeOwners, type OwnedChange } from './judge-owners.ts';
import { type CurrentRules, type OwnersDeps, readCurrentRules } from './owned-webhooks.ts';
import { ownerBody } from './owner-body.ts';
import { type RecordChange, readChange } from './record-change.ts';

/** What a delivery to an owner's webhook was made with. */
interface OwnedDelivery {
  readonly id: string;
  readonly event: string;
  readonly body: string | null;
  /** Null for a test event, which tells nothing about records. */
  readonly collection_id: string | null;
}

/**
 * Checks leased deliveries to owners' webhooks again, by the rules, settings and owners of now and the record of the event
 * (webhooks §9.4). Returns all deliveries that may be sent, owners' with their own bodies; the others are deleted. It runs no
 * statement if none has an owner.
 */
export async function recheckOwned(deps: OwnersDeps, claims: readonly LeasedDelivery[]): Promise<LeasedDelivery[]> {
  const owned = claims.filter(({ owner_collection }) => owner_collection !== null);
  if (owned.length === 0) return [...claims];
  const [rules, made] = [await readCurrentRules(deps), await readMade(deps.query, owned)];
  const admitted = new Map<string, LeasedDelivery>();
  const items: (OwnedChange & { claim: LeasedDelivery; delivery: OwnedDelivery })[] = [];
  for (const claim of owned) {
    const delivery = made.get(claim.delivery_id);
    const owner = rules.findById(claim.owner_collection ?? '');
    if (!delivery || !owner || !rules.mayCall(owner, claim.url)) continue;
    // An event that is no longer kept ends like an admin's delivery.
    if (delivery.collection_id === null || claim.body === null) admitted.set(claim.delivery_id, claim);
    else items.push(...itemsOf(claim, claim.body, delivery, owner, rules));
  }
  const verdicts = await judgeOwners(deps.query, rules.schema, items);
  for (const [index, { claim, delivery, change }] of items.entries()) {
    const { held = false, holds = false } = verdicts[index] ?? {};
    const hasLeft = delivery.event !== claim.event;
    if (!(hasLeft ? held : holds)) continue;
    const body = hasLeft ? delivery.body : narrowed(delivery, change, held);
    if (body !== null) admitted.set(claim.delivery_id, { ...claim, event: delivery.event, body });
  }
  const refused = owned.filter(({ delivery_id }) => !admitted.has(delivery_id));
  if (refused.length > 0) await deleteDeliveries(deps.query, refused);
  await storeBodies(deps.query, [...admitted.values()], made);
  return claims.flatMap((claim) =>
    claim.owner_collection === null ? [claim] : (admitted.get(claim.delivery_id) ?? []),
  );
}

function itemsOf(claim: LeasedDelivery, body: string, delivery: OwnedDelivery, owner: Collection, rules: CurrentRules) {
  const collection = rules.findById(delivery.collection_id ?? '');
  const change = collection && readChange(claim.event, body, collection);
  if (!change || !rules.mayGet(owner, delivery.event)) return [];
  return [{ change, owner, ownerId: claim.owner_id ?? '', claim, delivery }];
}

/** Leaves out of the body that was made what its owner may no longer see. What was left out before stays left out. */
function narrowed({ event, body }: OwnedDelivery, { collection, action }: RecordChange, held: boolean): string | null {
  const made = body === null ? undefined : readChange(event, body, collection);
  return made && body !== null ? ownerBody(body, event, made, held || action !== 'update' ? 'all' : 'entered') : null;
}

async function readMade(query: Query, claims: readonly LeasedDelivery[]): Promise<Map<string, OwnedDelivery>> {
  const rows = await query<OwnedDelivery>({
    name: 'owners.made',
    text: `select d.id, d.event, d.body, d.collection_id
      from unnest($1::uuid[], $2::timestamptz[]) as claimed (id, occurred_at)
      join system.deliveries d on d.id = claimed.id and d.occurred_at = claimed.occurred_at`,
    values: [claims.map(({ delivery_id }) => delivery_id), claims.map(({ occurred_at }) => occurred_at)],
  });
  return new Map(rows.map((row) => [row.id, row]));
}

const deleteDeliveries = (query: Query, claims: readonly LeasedDelivery[]) =>
  query({
    name: 'owners.delete',
    text: `with gone as (
        delete from system.delivery_queue q using unnest($1::uuid[], $2::uuid[]) as leased (id, token)
        where q.delivery_id = leased.id and q.lease_token = leased.token returning q.delivery_id, q.occurred_at
      )
      delete from system.deliveries d using gone where d.id = gone.delivery_id and d.occurred_at = gone.occurred_at`,
    values: [claims.map(({ delivery_id }) => delivery_id), claims.map(({ lease_token }) => lease_token)],
  });

/** The log shows what is sent, so a body with less than before is stored. */
async function storeBodies(
  query: Query,
  claims: readonly LeasedDelivery[],
  made: ReadonlyMap<string, OwnedDelivery>,
): Promise<void> {
  const changed = claims.filter(({ delivery_id, body }) => {
    const delivery = made.get(delivery_id);
    return delivery?.collection_id != null && delivery.body !== body;
  });
  if (changed.length === 0) return;
  await query({
    name: 'owners.store-bodies',
    text: `update system.deliveries d set body = given.body
      from unnest($1::uuid[], $2::timestamptz[], $3::text[]) as given (id, occurred_at, body)
      where d.id = given.id and d.occurred_at = given.occurred_at`,
    values: [
      changed.map(({ delivery_id }) => delivery_id),
      changed.map(({ occurred_at }) => occurred_at),
      changed.map(({ body }) => body),
    ],
  });
}
