import type { Page, PageOptions } from '../records/options.ts';
import type { CallOptions } from '../transport.ts';
import type { DeliverySummary, SpanOptions } from './events.ts';
import type { Requests } from './requests.ts';
import type { Delivery, DeliveryFilter, Webhook, WebhookStatus, WebhookValues } from './webhook-types.ts';

const base = ['admin', 'webhooks'];

/** Webhooks and their deliveries (webhooks §1, §4). */
export const createWebhooks = ({ get, page, create, patch, remove }: Requests) => ({
  list: (paging?: PageOptions, options?: CallOptions) => page<Page<Webhook>>(base, paging, options),
  get: (id: string, options?: CallOptions) => get<Webhook>([...base, id], options),
  create: (values: WebhookValues, options?: CallOptions) => create<Webhook>(base, values, options),
  update: (id: string, changes: WebhookValues, options?: CallOptions) =>
    patch<Webhook>([...base, id], changes, options),
  delete: (id: string, options?: CallOptions) => remove([...base, id], options),
  /** Replaces the secret. The old one also signs for a while. */
  regenerateSecret: (id: string, options?: CallOptions) =>
    create<Webhook>([...base, id, 'regenerate-secret'], {}, options),
  status: (id: string, options?: CallOptions) => get<WebhookStatus>([...base, id, 'status'], options),
  /** Sends a test event. */
  test: (id: string, options?: CallOptions) => create<Delivery>([...base, id, 'test'], {}, options),
  deliveries: (id: string, filter?: DeliveryFilter, options?: CallOptions) =>
    page<Page<Delivery>>([...base, id, 'deliveries'], filter, options),
  delivery: (id: string, delivery: string, options?: CallOptions) =>
    get<Delivery>([...base, id, 'deliveries', delivery], options),
  /** Creates a new delivery for the same event. */
  redeliver: (id: string, delivery: string, options?: CallOptions) =>
    create<Delivery>([...base, id, 'deliveries', delivery, 'redeliver'], {}, options),
  /** Creates new deliveries for all events in a time range, in unix seconds. With `dry_run` it only counts them. */
  replay: (
    id: string,
    values: {
      readonly since: number;
      readonly until?: number;
      readonly status?: Delivery['status'];
      readonly dry_run?: boolean;
    },
    options?: CallOptions,
  ) => create<{ readonly count: number }>([...base, id, 'replay'], values, options),
  /** Counts all webhooks' deliveries in a time range, over time and by webhook. */
  summary: (span?: SpanOptions, options?: CallOptions) =>
    page<{ readonly data: DeliverySummary }>(['admin', 'deliveries', 'summary'], span, options).then(
      ({ data }) => data,
    ),
});
