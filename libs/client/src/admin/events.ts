import type { CallOptions } from '../transport.ts';
import type { Requests } from './requests.ts';
import type { Delivery } from './webhook-types.ts';

type Counts = { readonly [S in Delivery['status']]: number };

/** A delivery in an event list. */
export interface EventDelivery {
  readonly id: string;
  readonly webhook_id: string;
  readonly webhook_name: string;
  readonly status: Delivery['status'];
  readonly attempt: number;
  readonly response_code: number | null;
  readonly created_at_ms: number;
  readonly completed_at_ms: number | null;
}

/** An event's delivery with its attempts. */
export interface EventDeliveryDetails extends EventDelivery {
  readonly error: string | null;
  readonly response_body: string | null;
  readonly next_attempt_at_ms: number | null;
  readonly attempts: readonly {
    readonly at_ms: number;
    readonly response_code: number | null;
    readonly duration_ms: number;
    readonly error: string | null;
  }[];
}

/** An event that webhooks received (webhooks §8). */
export interface StoredEvent<D = EventDelivery> {
  readonly id: string;
  readonly event: string;
  readonly at_ms: number;
  readonly record_id: string | null;
  readonly version: string | null;
  readonly actor: { readonly type: string; readonly id: string | null } | null;
  readonly request_id: string | null;
  readonly trace_id: string | null;
  /** The newest deliveries. */
  readonly deliveries: readonly D[];
  /** Delivery counts by status. */
  readonly counts: Partial<Counts>;
}

export interface StoredEventDetails extends StoredEvent<EventDeliveryDetails> {
  readonly body: Readonly<Record<string, unknown>>;
}

/** Selects a list's events. */
export interface EventFilter {
  /** The page's cursor; the first page without it. */
  readonly cursor?: string;
  readonly perPage?: number;
  /** A record id. */
  readonly record?: string;
  /** A webhook pattern. */
  readonly event?: string;
  /** A webhook id. */
  readonly webhook?: string;
  readonly status?: Delivery['status'];
  readonly request_id?: string;
  readonly since?: number;
  readonly until?: number;
}

/** A time range in unix seconds, and how many buckets it has. */
export interface SpanOptions {
  readonly since?: number;
  readonly until?: number;
  readonly buckets?: number;
}

interface Summary {
  readonly since: number;
  readonly until: number;
  readonly step_s: number;
  /** False if only the newest were counted. */
  readonly is_complete: boolean;
}

/** The deliveries in a time range. */
export interface DeliverySummary extends Summary {
  readonly buckets: readonly ({ readonly at: number } & Counts)[];
  readonly webhooks: readonly ({ readonly id: string; readonly name: string } & Counts)[];
}

/** The requests in a time range. */
export interface RequestSummary extends Summary {
  readonly buckets: readonly {
    readonly at: number;
    readonly requests: number;
    readonly refused: number;
    readonly failed: number;
    readonly p50_ms: number;
    readonly p95_ms: number;
  }[];
}

/** The events that webhooks received, with their deliveries. */
export const createEvents = ({ get, page }: Requests) => ({
  list: (filter?: EventFilter, options?: CallOptions) =>
    page<{ readonly data: readonly StoredEvent[]; readonly perPage: number; readonly next: string | null }>(
      ['admin', 'events'],
      filter,
      options,
    ),
  get: (id: string, options?: CallOptions) => get<StoredEventDetails>(['admin', 'events', id], options),
});
