import type { Page, PageOptions } from '../records/options.ts';
import type { CallOptions, Transport } from '../transport.ts';
import { apiPath, mergeQueries } from '../url.ts';
import type { DeliverySummary, SpanOptions } from './events.ts';
import { type Requests, withQuery } from './requests.ts';
import type {
  CatalogueEvent,
  Delivery,
  DeliveryFilter,
  NewWebhookValues,
  OpenedPortal,
  PolledEvents,
  PortalLink,
  PortalLinkValues,
  Webhook,
  WebhookOwner,
  WebhookStatus,
  WebhookValues,
  WebhookWithKey,
} from './webhook-types.ts';

/** Webhooks and their deliveries, below a path (webhooks §1, §4). */
const callsAt = (base: readonly string[], { get, page, create, define, remove }: Requests) => ({
  list: (paging?: PageOptions, options?: CallOptions) => page<Page<Webhook>>(base, paging, options),
  get: (id: string, options?: CallOptions) => get<Webhook>([...base, id], options),
  create: (values: NewWebhookValues, options?: CallOptions) => define<WebhookWithKey>('POST', base, values, options),
  update: (id: string, changes: WebhookValues, options?: CallOptions) =>
    define<Webhook>('PATCH', [...base, id], changes, options),
  delete: (id: string, options?: CallOptions) => remove([...base, id], options),
  /** Replaces the secret, which also signs for a while, or the key with which events are read. */
  regenerateSecret: (id: string, options?: CallOptions) =>
    create<WebhookWithKey>([...base, id, 'regenerate-secret'], {}, options),
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
  /** Gives up or repeats the dead delivery that blocks an ordered webhook: the one that `status` names, or the given one. */
  unblock: (
    id: string,
    values: { readonly action: 'skip' | 'retry'; readonly delivery_id?: string },
    options?: CallOptions,
  ) => create<Delivery>([...base, id, 'unblock'], values, options),
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

/** Reads the events of a webhook with the type `poll`, by its key (webhooks §11). */
export async function polledEvents(
  transport: Transport,
  { id, key, ...place }: PolledPlace,
  { query, signal }: CallOptions = {},
): Promise<PolledEvents> {
  const { json } = await transport.send({
    method: 'GET',
    path: apiPath('webhooks', id, 'events'),
    query: mergeQueries(query, place),
    headers: { 'X-Webhook-Key': key },
    isAnonymous: true,
    signal,
  });
  return json as PolledEvents;
}

/** Which events to read. */
export interface PolledPlace {
  /** The webhook's id. */
  readonly id: string;
  readonly key: string;
  /** A page's `next`; from the beginning if left out. */
  readonly after?: string;
  /** 1 to 100, which is the default. */
  readonly limit?: number;
}

export type OwnedWebhooks = ReturnType<typeof createOwnedWebhooks>;
