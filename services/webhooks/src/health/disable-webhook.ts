import { recordAudit } from '@recordbus/audit';
import type { Database } from '@recordbus/database';
import { putEvent } from '@recordbus/journal';
import { minFailures } from './note-results.ts';

/**
 * Disables a webhook whose attempts have all failed for `afterSec`, with an audit row and an event, in one transaction.
 * Its deliveries wait until an admin enables it. Returns false if another replica was first or an attempt succeeded
 * meanwhile.
 */
export function disableFailingWebhook(database: Database, webhookId: string, afterSec: number): Promise<boolean> {
  return database.transaction(async (query) => {
    const [disabled] = await query<{ name: string; url: string; failures: number; failing_since: number }>({
      text: `update system.webhooks
        set active = active - tstzmultirange(tstzrange(now(), null)), paused_until = null, updated_at = now()
        where id = $1 and enabled and failures >= ${minFailures}
          and failing_since <= clock_timestamp() - make_interval(secs => $2)
        returning name, url, failures, floor(extract(epoch from failing_since))::bigint as failing_since`,
      values: [webhookId, afterSec],
    });
    if (!disabled) return false;
    const { failures, failing_since } = disabled;
    await recordAudit(query, {
      action: 'webhooks.disable',
      context: 'system',
      target: { type: 'webhook', id: webhookId },
      details: { failures, failing_since },
    });
    await putEvent(query, {
      event: 'system.webhook.disabled',
      data: JSON.stringify({ record: { id: webhookId, ...disabled } }),
      recordKey: `system.webhook/${webhookId}`,
    });
    return true;
  });
}
