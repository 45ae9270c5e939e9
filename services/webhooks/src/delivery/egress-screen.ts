import { setTimeout as sleep } from 'node:timers/promises';
import type { Query } from '@recordbus/database';
import { EgressBlockedError, type EgressClient } from '@recordbus/egress';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';

/**
 * Checks new deliveries' targets. A delivery to a denied target becomes a dead letter at once, even if its
 * attempt would have to wait because its webhook is paused or at its share (webhooks §7.3). An attempt checks its own
 * target when it connects.
 */
interface EgressScreen {
  start(): void;
  /** Call it when deliveries were enqueued, and when the settings deny other targets. */
  wake(): void;
  stop(): Promise<void>;
}

interface EgressScreenOptions {
  readonly query: Query;
  /** The client for a webhook, by whether it has an owner. */
  readonly clientOf: (webhook: { readonly owner_collection: string | null }) => Pick<EgressClient, 'check'>;
  readonly log: Logger;
}

/** The wait before a check: by then most new deliveries have been attempted. It also bounds how often checks run. */
const settleMs = 500;
/** Interval between checks without a wake-up: not every new delivery wakes all replicas. */
const idleMs = 30_000;
/** Longest wait for a name to resolve. After that, only the attempt checks the target. */
const lookupMs = 2000;

interface Waiting {
  readonly id: string;
  readonly url: string;
  readonly owner_collection: string | null;
}

/** Creates this process's screen; it does nothing before `start`. */
export function createEgressScreen({ query, clientOf, log }: EgressScreenOptions): EgressScreen {
  const screening = every({
    name: "check new deliveries' targets",
    log,
    intervalMs: idleMs,
    soonMs: settleMs,
    async run() {
      await Promise.all((await findWaiting(query)).map(screen));
    },
  });

  async function screen(waiting: Waiting): Promise<void> {
    const error = await findBlock(clientOf(waiting), waiting.url);
    if (error !== undefined) await endUnattempted(query, waiting.id, error);
  }

  return { start: screening.start, wake: screening.wakeSoon, stop: screening.stop };
}

/** Returns why a target is denied; undefined when it is allowed, or when its name does not resolve in time. */
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

/** Finds the webhooks with deliveries that no replica has attempted or leased yet. */
const findWaiting = (query: Query): Promise<Waiting[]> =>
  query<Waiting>({
    name: 'delivery.unattempted',
    text: `select w.id, w.url, w.owner_collection from system.webhooks w where w.enabled and w.type = 'http' and exists (
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
