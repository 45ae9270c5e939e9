import type { Database } from '@recordbus/database';
import type { Logger } from '@recordbus/process/logging';
import type { AttemptOutcome } from '../delivery/record-outcomes.ts';
import { disableWebhook } from './disable-webhook.ts';
import { type HealthPolicy, noteResults, type Result } from './note-results.ts';
import type { Recipient } from './owner-mail.ts';

/** Pauses and disables webhooks whose receivers keep failing, and disables those whose receivers ask for it. */
interface HealthKeeper {
  /** Takes recorded outcomes. Never waits, never throws. */
  note(outcomes: readonly AttemptOutcome[]): void;
  /** Waits for the work in progress. */
  stop(): Promise<void>;
}

interface HealthKeeperOptions {
  readonly database: Database;
  readonly log: Logger;
  readonly policy: () => HealthPolicy;
  /** Called when a pause has ended, so that waiting deliveries can be sent. */
  readonly onReopened: () => void;
  /** Finds who gets a mail when the webhook is disabled. */
  readonly findRecipient: (webhookId: string) => Promise<Recipient | undefined>;
  /** Called when an attempt has failed. */
  readonly onFailed: () => void;
  /** Called when a webhook was disabled: an event is in the outbox, and possibly a mail in its queue. */
  readonly onDisabled: () => void;
}

/** Creates the keeper. It ignores successes at webhooks that are not failing. */
export function createHealthKeeper(options: HealthKeeperOptions): HealthKeeper {
  const { database, log, policy, findRecipient, onReopened, onFailed, onDisabled } = options;
  let noting = Promise.resolve();

  async function keep(results: readonly Result[]): Promise<void> {
    const { disableAfterSec } = policy();
    for (const { id, paused, reopened, isHopeless } of await noteResults(database.query, results, policy())) {
      if (paused) log.warn({ webhook_id: id }, 'webhook paused: its receiver keeps failing');
      if (reopened) log.info({ webhook_id: id }, 'webhook resumed: its receiver answers again');
      if (reopened) onReopened();
      if (isHopeless) await disable(id, 'its receiver has failed for too long', disableAfterSec);
    }
  }

  async function disable(id: string, reason: string, afterSec?: number): Promise<void> {
    if (!(await disableWebhook(database, id, { afterSec, recipient: await findRecipient(id) }))) return;
    log.warn({ webhook_id: id }, `webhook disabled: ${reason}`);
    onDisabled();
  }

  return {
    note(outcomes) {
      const results = summarize(outcomes);
      const asking = new Set(outcomes.filter(({ asksToDisable }) => asksToDisable).map(({ webhookId }) => webhookId));
      if (results.length === 0 && asking.size === 0) return;
      noting = noting
        .then(async () => {
          if (results.length > 0) await keep(results);
          if (results.some(({ succeeded }) => !succeeded)) onFailed();
          for (const id of asking) await disable(id, 'its receiver asked for it');
        })
        .catch((error) => log.warn({ err: error }, 'cannot update webhook health'));
    },
    stop: () => noting,
  };
}

/** Returns one result for each webhook whose health may change. One success outweighs its batch's failures. */
function summarize(outcomes: readonly AttemptOutcome[]): Result[] {
  const ofWebhooks = Map.groupBy(
    outcomes.filter(({ attempted }) => attempted),
    ({ webhookId }) => webhookId,
  );
  return [...ofWebhooks].flatMap(([webhookId, ofWebhook]) => {
    const failures = ofWebhook.filter(({ verdict }) => verdict !== 'success').length;
    const succeeded = failures < ofWebhook.length;
    const mayChange = failures > 0 || ofWebhook.some(({ wasFailing }) => wasFailing);
    return mayChange ? [{ webhookId, succeeded, failures }] : [];
  });
}
