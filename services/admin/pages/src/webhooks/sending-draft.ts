import type { Webhook, WebhookValues } from '@recordbus/client';
import { readable } from '../ui/unreadable.ts';

/** A form's values about order and batches. */
export interface SendingDraft {
  ordering: Webhook['ordering'];
  on_failure: Webhook['on_failure'];
  /** Without a `max`, no batches. */
  batch: { max: unknown; wait_ms: unknown };
}

/** Returns a webhook's values for the form, or those of a new one. */
export const sendingDraftOf = (webhook: Webhook | undefined): SendingDraft => ({
  ordering: webhook?.ordering ?? 'none',
  on_failure: webhook?.on_failure ?? 'block',
  batch: { max: webhook?.batch?.max ?? null, wait_ms: webhook?.batch?.wait_ms ?? 1000 },
});

/** Returns the form's values, to send. Throws an `UnreadableError` if a number cannot be read. */
export const sendingValuesOf = ({ ordering, on_failure, batch }: SendingDraft): WebhookValues => ({
  ordering,
  on_failure,
  batch: batch.max === null ? null : (readable({ batch: { ...batch } }).batch as NonNullable<WebhookValues['batch']>),
});
