import type { Query } from '@recordbus/database';
import { type OwnersDeps, recheck, type WaitingDelivery } from '@recordbus/webhook-owners';
import type { LeasedDelivery } from '../delivery/claim.ts';

/**
 * Checks leased deliveries to owners' webhooks again (webhooks §9.4). Returns all deliveries that may be sent, owners' with
 * their own bodies; the others are deleted. It runs no statement if none has an owner.
 */
export async function recheckOwned(deps: OwnersDeps, claims: readonly LeasedDelivery[]): Promise<LeasedDelivery[]> {
  const owned = claims.filter(({ owner_collection }) => owner_collection !== null);
  if (owned.length === 0) return [...claims];
  const made = await readMade(deps.query, owned);
  const admitted = await recheck(
    deps,
    owned.flatMap((claim): WaitingDelivery[] => {
      const found = made.get(claim.delivery_id);
      if (!found) return [];
      const { delivery_id: id, url, event, body, owner_collection, owner_id } = claim;
      return [
        {
          id,
          url,
          event: event ?? '',
          body,
          made: found,
          ownerCollection: owner_collection ?? '',
          ownerId: owner_id ?? '',
        },
      ];
    }),
  );
  const refused = owned.filter(({ delivery_id }) => !admitted.has(delivery_id));
  if (refused.length > 0) await deleteDeliveries(deps.query, refused, keptLanes(owned, admitted));
  const allowed = claims.flatMap((claim): LeasedDelivery[] => {
    if (claim.owner_collection === null) return [claim];
    const found = admitted.get(claim.delivery_id);
    if (!found) return [];
    return [found.body === null ? claim : { ...claim, ...found }];
  });
  await storeBodies(deps.query, allowed, made);
  return allowed;
}

type Made = WaitingDelivery['made'];

async function readMade(query: Query, claims: readonly LeasedDelivery[]): Promise<Map<string, Made>> {
  const rows = await query<Made & { readonly id: string }>({
    name: 'owners.made',
    text: `select d.id, d.event, d.body, d.collection_id as "collectionId"
      from unnest($1::uuid[], $2::timestamptz[]) as claimed (id, occurred_at)
      join system.deliveries d on d.id = claimed.id and d.occurred_at = claimed.occurred_at`,
    values: [claims.map(({ delivery_id }) => delivery_id), claims.map(({ occurred_at }) => occurred_at)],
  });
  return new Map(rows.map((row) => [row.id, row]));
}

/** The lanes of which a delivery is still sent: a batch has several. */
const keptLanes = (owned: readonly LeasedDelivery[], admitted: ReadonlyMap<string, unknown>): string[] =>
  owned.flatMap(({ lane, delivery_id }) => (lane && admitted.has(delivery_id) ? [lane.id] : []));

async function deleteDeliveries(
  query: Query,
  claims: readonly LeasedDelivery[],
  lanesInUse: readonly string[],
): Promise<void> {
  const ordered = claims.filter(({ lane }) => lane);
  if (ordered.length > 0) await deleteOrdered(query, ordered, lanesInUse);
  if (ordered.length < claims.length)
    await deleteFree(
      query,
      claims.filter(({ lane }) => !lane),
    );
}

/** Deletes deliveries in lanes, and frees the lanes that are not in use. */
const deleteOrdered = (query: Query, claims: readonly LeasedDelivery[], lanesInUse: readonly string[]) =>
  query({
    name: 'owners.delete-ordered',
    text: `with held as materialized (
        select l.id, lease.delivery_id from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as lease (id, token, delivery_id)
        join system.delivery_lanes l on l.id = lease.id and l.lease_token = lease.token
        order by l.webhook_id, l.key for update of l
      ), freed as (
        update system.delivery_lanes l
        set lease_until = null, lease_token = null, lost_leases = 0, next_attempt_at = clock_timestamp()
        from held where l.id = held.id and l.id <> all($4::uuid[])
      ), gone as (
        delete from system.ordered_deliveries d using held where d.delivery_id = held.delivery_id
        returning d.delivery_id, d.occurred_at
      )
      delete from system.deliveries d using gone where d.id = gone.delivery_id and d.occurred_at = gone.occurred_at`,
    values: [
      claims.map(({ lane }) => lane?.id),
      claims.map(({ lease_token }) => lease_token),
      claims.map(({ delivery_id }) => delivery_id),
      lanesInUse,
    ],
  });

const deleteFree = (query: Query, claims: readonly LeasedDelivery[]) =>
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
  made: ReadonlyMap<string, Made>,
): Promise<void> {
  const changed = claims.filter(({ delivery_id, body }) => {
    const delivery = made.get(delivery_id);
    return delivery !== undefined && delivery.collectionId !== null && delivery.body !== body;
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
