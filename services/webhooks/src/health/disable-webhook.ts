import { recordAudit } from '@recordbus/audit';
import type { Database } from '@recordbus/database';
import { putEvent } from '@recordbus/journal';
import { minFailures } from './note-results.ts';
import { queueOwnerMail, type Recipient, utcText } from './owner-mail.ts';

interface Disabling {
  /** For how long all its attempts must have failed; without it, its receiver asked for it. */
  readonly afterSec?: number | undefined;
  /** Who gets a mail about it. */
  readonly recipient: Recipient | undefined;
}

/**
 * Disables a webhook, with an audit row, an event and its owner's mail, in one transaction. Its deliveries wait until
 * someone enables it. Returns false if another replica was first or an attempt succeeded meanwhile.
 */
export function disableWebhook(
  database: Database,
  webhookId: string,
  { afterSec, recipient }: Disabling,
): Promise<boolean> {
  return database.transaction(async (query) => {
    const [disabled] = await query<{ name: string; url: string; failures: number; failing_since: number | null }>({
      text: `update system.webhooks
        set active = active - tstzmultirange(tstzrange(now(), null)), paused_until = null, updated_at = now()
        where id = $1 and enabled and ($2::float is null or failures >= ${minFailures}
          and failing_since <= clock_timestamp() - make_interval(secs => $2))
        returning name, url, failures, floor(extract(epoch from failing_since))::bigint as failing_since`,
      values: [webhookId, afterSec ?? null],
    });
    if (!disabled) return false;
    const { failures, failing_since } = disabled;
    const reason = afterSec === undefined ? 'asked' : 'failing';
    await recordAudit(query, {
      action: 'webhooks.disable',
      context: 'system',
      target: { type: 'webhook', id: webhookId },
      details: { reason, failures, failing_since },
    });
    await putEvent(query, {
      event: 'system.webhook.disabled',
      data: JSON.stringify({ record: { id: webhookId, ...disabled, reason } }),
      recordKey: `system.webhook/${webhookId}`,
    });
    if (recipient)
      await queueOwnerMail(query, recipient, {
        template: 'webhook_disabled',
        reason:
          reason === 'asked' || failing_since === null
            ? 'its receiver asked for it'
            : `all requests have failed since ${utcText(failing_since)}`,
      });
    return true;
  });
}
