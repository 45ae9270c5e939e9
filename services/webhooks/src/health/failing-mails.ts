import type { Database } from '@recordbus/database';
import { isMailConfigured } from '@recordbus/mail';
import { every } from '@recordbus/process/background';
import type { Logger } from '@recordbus/process/logging';
import { minFailures } from './note-results.ts';
import { findRecipient, type OwnerMailDeps, queueOwnerMail, utcText } from './owner-mail.ts';

/** Mails the owners of webhooks that have failed for long (webhooks §6.5). */
interface FailingMails {
  start(): void;
  /** Call it when a webhook has failed again. */
  wakeSoon(): void;
  stop(): Promise<void>;
}

interface FailingMailsOptions extends Omit<OwnerMailDeps, 'query' | 'settings'> {
  readonly database: Database;
  readonly settings: OwnerMailDeps['settings'] & { namesOf(family: 'webhooks.owners.<collection>'): readonly string[] };
  readonly log: Logger;
  /** Called when mails were queued. */
  readonly onMail: () => void;
}

/** A webhook may get no events that would fail again, so its failures are looked for in between too. */
const intervalMs = 60_000;
/** Failures come many at a time, and one look serves them all. */
const soonMs = 1000;
const batchSize = 50;

/**
 * Creates the task. Every replica runs it; one of them mails about each run of failures. It does nothing where no records may
 * own webhooks.
 */
export function createFailingMails({ database, log, onMail, ...deps }: FailingMailsOptions): FailingMails {
  const { settings } = deps;

  return every({
    name: 'mail the owners of failing webhooks',
    log,
    intervalMs,
    soonMs,
    async run() {
      const afterSec = settings.get('webhooks.mail_after_seconds');
      const isUsed = settings.namesOf('webhooks.owners.<collection>').length > 0;
      if (!isUsed || afterSec === 0 || !isMailConfigured(settings)) return undefined;
      const due = await database.query<{ id: string }>({
        name: 'owner-mail.due',
        text: `select id from system.webhooks where ${isDue} order by failing_since limit ${batchSize}`,
        values: [afterSec],
      });
      for (const { id } of due) await mail(id, afterSec);
      return due.length === batchSize ? 0 : undefined;
    },
  });

  async function mail(id: string, afterSec: number): Promise<void> {
    const recipient = await findRecipient({ ...deps, query: database.query }, id);
    const isMailed = await database.transaction(async (query) => {
      const [taken] = await query<{ since: number }>({
        name: 'owner-mail.take',
        text: `update system.webhooks set mailed_for = failing_since where id = $2 and ${isDue}
          returning floor(extract(epoch from failing_since))::bigint as since`,
        values: [afterSec, id],
      });
      if (!taken || !recipient) return false;
      await queueOwnerMail(query, recipient, { template: 'webhook_failing', since: utcText(taken.since) });
      return true;
    });
    if (isMailed) onMail();
  }
}

/** SQL: whether a webhook's owner is to get a mail after failures for $1 seconds. */
const isDue = `owner_collection is not null and failing_since is not null and enabled and failures >= ${minFailures}
  and failing_since <= clock_timestamp() - make_interval(secs => $1) and mailed_for is distinct from failing_since`;
