import { recordAudit } from '@recordbus/audit';
import type { Database } from '@recordbus/database';
import { putEvent } from '@recordbus/journal';
import { minFailures } from './note-results.ts';

/**
 * Disables a webhook, with an audit row and an event, in one transaction. Without `afterSec` its receiver asked for it;
 * otherwise all its attempts must have failed for so long. Its deliveries wait until an admin enables it. Returns false
 * if another replica was first or an attempt succeeded meanwhile.
 */
export function disableWebhook(database: Database, webhookId: string, afterSec?: number): Promise<boolean> {
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
    return true;
  });
}
