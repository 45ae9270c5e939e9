import type { Database } from '@recordbus/database';
import type { Logger } from '@recordbus/shared/logging';
import type { Outcome } from '../delivery/record-outcomes.ts';
import { disableFailingWebhook } from './disable-webhook.ts';
import { type HealthPolicy, noteResults, type Result } from './note-results.ts';

/** Pauses and disables webhooks whose receivers only fail. */
interface HealthKeeper {
  /** To be called with recorded outcomes. Never waits, never throws. */
  note(outcomes: readonly Outcome[]): void;
  /** Finishes what is under way. */
  stop(): Promise<void>;
}

interface HealthKeeperOptions {
  readonly database: Database;
  readonly log: Logger;
  readonly policy: () => HealthPolicy;
  /** A pause is over: what waited for it may go. */
  readonly onReopened: () => void;
  /** An event was written into the outbox. */
  readonly onEvent: () => void;
}

/** Makes one; a success of a webhook that did not fail before costs nothing. */
export function createHealthKeeper(options: HealthKeeperOptions): HealthKeeper {
  const { database, log, policy, onReopened, onEvent } = options;
  let noting = Promise.resolve();

  async function keep(results: readonly Result[]): Promise<void> {
    const { disableAfterSec } = policy();
    for (const { id, paused, reopened, isHopeless } of await noteResults(database.query, results, policy())) {
      if (paused) log.warn({ webhook_id: id }, 'a webhook is paused: its receiver only fails');
      if (reopened) log.info({ webhook_id: id }, 'a webhook goes on: its receiver answers again');
      if (reopened) onReopened();
      if (!isHopeless || !(await disableFailingWebhook(database, id, disableAfterSec))) continue;
      log.warn({ webhook_id: id }, 'a webhook was disabled: its receiver has only failed for too long');
      onEvent();
    }
  }

  return {
    note(outcomes) {
      const results = summarise(outcomes);
      if (results.length === 0) return;
      noting = noting
        .then(() => keep(results))
        .catch((error) => log.warn({ err: error }, 'the health of webhooks was not noted'));
    },
    stop: () => noting,
  };
}

/** One result for each webhook about which there is something to note; any success makes up for the failures beside it. */
function summarise(outcomes: readonly Outcome[]): Result[] {
  const ofWebhooks = Map.groupBy(
    outcomes.filter(({ attempted }) => attempted),
    ({ webhookId }) => webhookId,
  );
  return [...ofWebhooks].flatMap(([webhookId, ofWebhook]) => {
    const failures = ofWebhook.filter(({ verdict }) => verdict !== 'success').length;
    const succeeded = failures < ofWebhook.length;
    const isNews = failures > 0 || ofWebhook.some(({ wasFailing }) => wasFailing);
    return isNews ? [{ webhookId, succeeded, failures }] : [];
  });
}
