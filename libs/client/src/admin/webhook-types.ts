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
}

export interface Webhook extends Required<WebhookValues> {
  readonly id: string;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface WebhookStatus {
  readonly state: 'active' | 'paused' | 'disabled';
  readonly failures: number;
  readonly failing_since: number | null;
  readonly paused_until: number | null;
  readonly previous_secret_until: number | null;
  readonly pending: number;
  readonly oldest_pending_at: number | null;
}

type DeliveryStatus = 'pending' | 'success' | 'dead';

export interface Delivery {
  readonly id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event: string;
  readonly status: DeliveryStatus;
  readonly attempt: number;
  readonly response_code: number | null;
  readonly response_body: string | null;
  readonly error: string | null;
  /** Absent in a list with `skipPayload`. */
  readonly payload?: Readonly<Record<string, unknown>>;
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
