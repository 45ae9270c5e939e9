import { setTimeout as sleep } from 'node:timers/promises';
import type { Query } from '@recordbus/database';
import { EgressBlockedError, type EgressClient } from '@recordbus/egress';
import { every } from '@recordbus/shared/background';
import type { Logger } from '@recordbus/shared/logging';

/**
 * Looks where new deliveries lead as soon as they are enqueued: one whose target is denied is dead at once, also when
 * its turn is not to come for a while because its webhook is paused or has its share under way (webhooks §7.3). What is
 * attempted right away is checked when it connects, and is of no concern here.
 */
interface EgressScreen {
  start(): void;
  /** To be called when deliveries were enqueued, or other targets are denied. */
  wake(): void;
  stop(): Promise<void>;
}

interface EgressScreenOptions {
  readonly query: Query;
  readonly client: Pick<EgressClient, 'check'>;
  readonly log: Logger;
}

/** Deliveries that are attempted right away are gone from the queue after this; it also bounds how often is looked. */
const settleMs = 500;
/** Replicas are not told of everything; each looks by itself now and then. */
const idleMs = 30_000;
/** A name that takes longer to resolve is left to the attempt. */
const lookupMs = 2000;

interface Waiting {
  readonly id: string;
  readonly url: string;
}

/** Makes the screen of this process; it does nothing before `start`. */
export function createEgressScreen({ query, client, log }: EgressScreenOptions): EgressScreen {
  const screening = every({
    name: 'check the targets of new deliveries',
    log,
    intervalMs: idleMs,
    soonMs: settleMs,
    async run() {
      await Promise.all((await findWaiting(query)).map(screen));
    },
  });

  async function screen({ id, url }: Waiting): Promise<void> {
    const error = await findBlock(client, url);
    if (error !== undefined) await endUnattempted(query, id, error);
  }

  return { start: screening.start, wake: screening.wakeSoon, stop: screening.stop };
}

/** Why a target is denied; undefined when it is not, or when that cannot be told now. */
async function findBlock(client: Pick<EgressClient, 'check'>, url: string): Promise<string | undefined> {
  const late = new AbortController();
  try {
    await Promise.race([client.check(url), sleep(lookupMs, undefined, { signal: late.signal })]);
    return undefined;
  } catch (error) {
    return error instanceof EgressBlockedError ? error.message : undefined;
  } finally {
    late.abort();
  }
}

/** The webhooks with deliveries that nobody has attempted or taken yet. */
const findWaiting = (query: Query): Promise<Waiting[]> =>
  query<Waiting>({
    name: 'delivery.unattempted',
    text: `select w.id, w.url from system.webhooks w where w.enabled and exists (
        select from system.delivery_queue q where q.webhook_id = w.id and q.attempt = 0 and q.lease_token is null
      )`,
    values: [],
  });

const endUnattempted = (query: Query, webhookId: string, error: string) =>
  query({
    name: 'delivery.end-unattempted',
    text: `with ended as (
        delete from system.delivery_queue where webhook_id = $1 and attempt = 0 and lease_token is null
        returning delivery_id, occurred_at
      )
      update system.deliveries d
      set status = 'dead', error = $2, updated_at = clock_timestamp(), completed_at = clock_timestamp()
      from ended where d.id = ended.delivery_id and d.occurred_at = ended.occurred_at`,
    values: [webhookId, error],
  });
