export interface WebhookValues {
  readonly name?: string;
  readonly url?: string;
  readonly events?: readonly string[];
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly enabled?: boolean;
  readonly retry_max?: number;
  readonly retry_backoff?: 'exponential' | 'fixed';
  readonly retry_delay_ms?: number;
  readonly timeout_ms?: number;
  /** Deliveries a second, 0.1 to 1,000; null for no limit. */
  readonly rate?: number | null;
  /** Whose deliveries follow one another: each record's, or all of the webhook's. */
  readonly ordering?: 'none' | 'record' | 'all';
  /** What a dead delivery does to those behind it. */
  readonly on_failure?: 'block' | 'skip';
  /**
   * The most deliveries in one request, 1 to 100, whose body is a list; and how long the first one waits for others, 0 to 60,000 ms,
   * by default 1,000. Null for one delivery in each request.
   */
  readonly batch?: { readonly max: number; readonly wait_ms?: number } | null;
  /** The expression that events must fulfil; null for none. */
  readonly filter?: string | null;
  /** How many days the log keeps payloads, 0 to 30; null for as long as deliveries. */
  readonly payload_days?: number | null;
}

/** The record that owns a webhook. */
export interface WebhookOwner {
  readonly collection: string;
  readonly id: string;
}

/** A new webhook. Its owner and its type never change. */
export interface NewWebhookValues extends WebhookValues {
  /** `poll` for one whose events are read by `polledEvents`, not sent; it has no URL. */
  readonly type?: 'http' | 'poll';
  readonly owner?: WebhookOwner | null;
}

export interface Webhook extends Required<WebhookValues> {
  readonly id: string;
  readonly type: 'http' | 'poll';
  /** Null for an admin's webhook. */
  readonly owner: WebhookOwner | null;
  readonly created_at: number;
  readonly updated_at: number;
}

/** A webhook whose key is shown: this once. */
export interface WebhookWithKey extends Webhook {
  /** For reading the events; only if the type is `poll`. */
  readonly key?: string;
}

/** Events that were read: the bodies that other webhooks are sent. */
export interface PolledEvents {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  /** `after` for the next page, also when there is no further event yet. */
  readonly next: string;
}

export interface WebhookStatus {
  readonly state: 'active' | 'paused' | 'disabled';
  readonly failures: number;
  readonly failing_since: number | null;
  readonly paused_until: number | null;
  readonly previous_secret_until: number | null;
  readonly pending: number;
  readonly oldest_pending_at: number | null;
  /** The dead delivery for which others have waited longest. `key` is the record's id; null with `all`. */
  readonly blocking: { readonly delivery_id: string; readonly key: string | null } | null;
  /** How many dead deliveries others wait for. */
  readonly blocked: number;
}

type DeliveryStatus = 'pending' | 'success' | 'dead';

export interface Delivery {
  readonly id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event: string;
  /** The `webhook-id` of the last request with it, if that had a batch. */
  readonly batch_id: string | null;
  readonly status: DeliveryStatus;
  readonly attempt: number;
  readonly response_code: number | null;
  readonly response_body: string | null;
  readonly error: string | null;
  /** Absent in a list with `skipPayload`; null when it is no longer kept. */
  readonly payload?: Readonly<Record<string, unknown>> | null;
  readonly attempts: readonly {
    readonly at: number;
    readonly response_code: number | null;
    readonly duration_ms: number;
    readonly error: string | null;
  }[];
  readonly next_attempt_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly completed_at: number | null;
}

/** Selects a list's deliveries. */
export interface DeliveryFilter {
  readonly page?: number;
  readonly perPage?: number;
  readonly status?: DeliveryStatus;
  readonly event?: string;
  /** Skips the count, which is slow for many rows. The totals are -1. */
  readonly skipTotal?: boolean;
  /** Leaves the payloads out, which may be large. */
  readonly skipPayload?: boolean;
}

/** An event that webhooks may get. */
export interface CatalogueEvent {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema for the body. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly example: Readonly<Record<string, unknown>>;
}

/** How the portal looks. Colours are like `#1a2b3c`. */
export interface PortalTheme {
  readonly title?: string;
  readonly mode?: 'system' | 'light' | 'dark';
  readonly accent?: string;
  readonly bg_app?: string;
  readonly bg_panel?: string;
  readonly text_primary?: string;
  readonly text_secondary?: string;
}

export interface PortalLinkValues {
  readonly owner: WebhookOwner;
  /** How long the link can be opened, in seconds; 900 by default. */
  readonly expires_s?: number;
  /** How long the opened portal works, in seconds; 3,600 by default. */
  readonly session_s?: number;
  readonly theme?: PortalTheme;
}

export interface PortalLink {
  /** Below the stack's address. */
  readonly path: string;
  readonly expires_at: number;
}

export interface OpenedPortal {
  /** The value for the header `X-Portal-Session`. */
  readonly session: string;
  readonly owner: WebhookOwner;
  readonly expires_at: number;
  readonly theme: PortalTheme;
}
