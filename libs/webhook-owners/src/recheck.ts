import type { Collection } from '@recordbus/schema';
import { judgeOwners, type OwnedChange } from './judge-owners.ts';
import { type CurrentRules, type OwnersDeps, readCurrentRules } from './owned-webhooks.ts';
import { ownerBody } from './owner-body.ts';
import { type RecordChange, readChange } from './record-change.ts';

/** A delivery to an owner's webhook that waits. */
export interface WaitingDelivery {
  readonly id: string;
  readonly ownerCollection: string;
  readonly ownerId: string;
  /** Empty if the webhook is read instead of called. */
  readonly url: string;
  /** The event as admins' webhooks get it; the body is null when it is no longer kept. */
  readonly event: string;
  readonly body: string | null;
  /** What the delivery was made with. */
  readonly made: {
    readonly event: string;
    readonly body: string | null;
    /** Null for a test event, which tells nothing about records. */
    readonly collectionId: string | null;
  };
}

/** What may be handed out now. */
export interface Admitted {
  readonly event: string;
  /** Null when it is no longer kept. */
  readonly body: string | null;
}

/**
 * Checks deliveries by current rules, settings and owners, and by the event's record (webhooks §9.4). Returns what may be
 * handed out, by the delivery's id.
 */
export async function recheck(
  deps: OwnersDeps,
  deliveries: readonly WaitingDelivery[],
): Promise<ReadonlyMap<string, Admitted>> {
  const admitted = new Map<string, Admitted>();
  if (deliveries.length === 0) return admitted;
  const rules = await readCurrentRules(deps);
  const items: (OwnedChange & { delivery: WaitingDelivery })[] = [];
  for (const delivery of deliveries) {
    const { id, event, body, made } = delivery;
    const owner = rules.findById(delivery.ownerCollection);
    if (!owner || !rules.mayCall(owner, delivery.url)) continue;
    // An event that is no longer kept ends like an admin's delivery.
    if (made.collectionId === null || body === null) admitted.set(id, { event, body });
    else items.push(...itemsOf(delivery, body, owner, rules));
  }
  const verdicts = await judgeOwners(deps.query, rules.schema, items);
  for (const [index, { delivery, change }] of items.entries()) {
    const { held = false, holds = false } = verdicts[index] ?? {};
    const { id, event, made } = delivery;
    const hasLeft = made.event !== event;
    if (!(hasLeft ? held : holds)) continue;
    const body = hasLeft ? made.body : narrowed(made, change, held);
    if (body !== null) admitted.set(id, { event: made.event, body });
  }
  return admitted;
}

function itemsOf(delivery: WaitingDelivery, body: string, owner: Collection, rules: CurrentRules) {
  const { event, made, ownerId } = delivery;
  const collection = rules.findById(made.collectionId ?? '');
  const change = collection && readChange(event, body, collection);
  if (!change || !rules.mayGet(owner, made.event)) return [];
  return [{ change, owner, ownerId, delivery }];
}

/** Leaves out of the body that was made what its owner may no longer see. What was left out before stays left out. */
function narrowed(
  { event, body }: WaitingDelivery['made'],
  { collection, action }: RecordChange,
  held: boolean,
): string | null {
  const made = body === null ? undefined : readChange(event, body, collection);
  return made && body !== null ? ownerBody(body, event, made, held || action !== 'update' ? 'all' : 'entered') : null;
}
