import type { Page, PageOptions } from '../records/options.ts';
import type { CallOptions } from '../transport.ts';
import type { DeliverySummary, SpanOptions } from './events.ts';
import { type Requests, withQuery } from './requests.ts';
import type {
  CatalogueEvent,
  Delivery,
  DeliveryFilter,
  NewWebhookValues,
  OpenedPortal,
  PortalLink,
  PortalLinkValues,
  Webhook,
  WebhookOwner,
  WebhookStatus,
  WebhookValues,
} from './webhook-types.ts';

/** Webhooks and their deliveries, below a path (webhooks §1, §4). */
const callsAt = (base: readonly string[], { get, page, create, patch, remove }: Requests) => ({
  list: (paging?: PageOptions, options?: CallOptions) => page<Page<Webhook>>(base, paging, options),
  get: (id: string, options?: CallOptions) => get<Webhook>([...base, id], options),
  create: (values: NewWebhookValues, options?: CallOptions) => create<Webhook>(base, values, options),
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
      /** Whether to send also what matches and was never sent to it, up to seven days back. */
      readonly missing?: boolean;
    },
    options?: CallOptions,
  ) => create<{ readonly count: number }>([...base, id, 'replay'], values, options),
});

/** All webhooks, for admins. */
export const createWebhooks = (requests: Requests) => ({
  ...callsAt(['admin', 'webhooks'], requests),
  /** The events that webhooks may get, with JSON Schemas for the bodies. */
  events: (options?: CallOptions) => requests.get<readonly CatalogueEvent[]>(['webhooks', 'events'], options),
  /** Creates a link to the page where an owner manages its webhooks. It opens once. */
  portal: (values: PortalLinkValues, options?: CallOptions) =>
    requests.post<PortalLink>(['admin', 'webhooks', 'portal'], values, options),
  /** Counts all webhooks' deliveries in a time range, over time and by webhook. */
  summary: (span?: SpanOptions, options?: CallOptions) =>
    requests
      .page<{ readonly data: DeliverySummary }>(['admin', 'deliveries', 'summary'], span, options)
      .then(({ data }) => data),
});

/** The webhooks of one owner, for those who manage them (webhooks §9.6). */
export function createOwnedWebhooks(requests: Requests, { collection, id }: WebhookOwner) {
  const owned = withQuery(requests, { owner: `${collection}/${id}` });
  return {
    ...callsAt(['webhooks'], owned),
    /** The events that the owner's webhooks may get. */
    events: (options?: CallOptions) => owned.get<readonly CatalogueEvent[]>(['webhooks', 'events'], options),
  };
}

/** Opens a portal link, once. */
export const openPortal = (
  { post }: Pick<Requests, 'post'>,
  token: string,
  options?: CallOptions,
): Promise<OpenedPortal> => post(['webhooks', 'portal'], { token }, options);

export type OwnedWebhooks = ReturnType<typeof createOwnedWebhooks>;
