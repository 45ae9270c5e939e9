/** The definition of a field (fields §1). */
export interface FieldDefinition {
  readonly id?: string;
  readonly name: string;
  readonly type: string;
  readonly required?: boolean;
  readonly options?: Readonly<Record<string, unknown>>;
  /** The name of the target; only of a relation. */
  readonly collection?: string;
  readonly view_rule?: string | null;
  readonly write_rule?: string | null;
  readonly onCreate?: boolean;
  readonly onUpdate?: boolean;
  /** Whether every auth collection has the field. */
  readonly system?: boolean;
}

/** The rules of a collection: null admits everyone, `""` admins, an expression whom it holds for. */
interface CollectionRules {
  readonly list_rule: string | null;
  readonly view_rule: string | null;
  readonly create_rule: string | null;
  readonly update_rule: string | null;
  readonly delete_rule: string | null;
}

/** A collection as the API shows it, with its fields as a list. */
export interface CollectionDefinition extends CollectionRules {
  readonly id: string;
  readonly name: string;
  readonly type: 'base' | 'auth' | 'view';
  readonly fields: readonly FieldDefinition[];
  readonly view_query: string | null;
  readonly history_enabled: boolean;
  readonly created_at: number;
  readonly updated_at: number;
  /** Sentences about a change, such as values that are lost. */
  readonly warnings?: readonly string[];
}

/** What a create or a change of a collection takes. */
export type CollectionValues = Partial<Omit<CollectionDefinition, 'id' | 'created_at' | 'updated_at' | 'warnings'>>;

export interface IndexDefinition {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique?: boolean;
  readonly type?: 'btree' | 'trigram';
  readonly system?: boolean;
}

/** The definitions of all collections. */
export interface SchemaSnapshot {
  readonly version: number;
  readonly generated_at: number;
  readonly collections: readonly Readonly<Record<string, unknown>>[];
}

type File = Readonly<Record<string, unknown>>;

/** The schema as files. */
export interface SchemaFiles {
  readonly version: 1;
  readonly collections: readonly File[];
  readonly webhooks?: readonly File[];
  readonly settings?: File;
  readonly migrations?: readonly { readonly name: string; readonly sql: string }[];
}

/** What applying files would change. */
export interface SchemaPlan {
  /** Of the current schema; the apply takes it. */
  readonly hash: string;
  readonly changes: readonly File[];
  /** What the apply has to allow by name. */
  readonly drops: readonly string[];
  readonly locks: readonly File[];
  readonly warnings: readonly string[];
}

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
  readonly payload: Readonly<Record<string, unknown>>;
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

/** Which deliveries a list has. */
export interface DeliveryFilter {
  readonly page?: number;
  readonly perPage?: number;
  readonly status?: DeliveryStatus;
  readonly event?: string;
}

export interface CronRun {
  readonly id: string;
  readonly cron: string;
  readonly tick: number;
  readonly cause: 'schedule' | 'missed' | 'manual';
  readonly status: 'running' | 'success' | 'failed' | 'skipped';
  readonly error: string | null;
  readonly started_at: number;
  readonly finished_at: number | null;
}

export interface AdminAccount {
  readonly id: string;
  readonly email: string;
  readonly created_at: number;
}

export interface AuditRow {
  readonly id: string;
  readonly at: number;
  readonly action: string;
  readonly actor_type: string;
  readonly actor_id: string | null;
  readonly impersonated_by: string | null;
  readonly target_type: string | null;
  readonly target_id: string | null;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface LogRow {
  readonly id: string;
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly duration_ms: number;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly principal_type: string;
  readonly principal_id: string | null;
  readonly auth_impersonated_by: string | null;
  readonly request_id: string;
}

/** Which rows of the request log a list has (admins §7.2). */
export interface LogFilter {
  readonly page?: number;
  readonly perPage?: number;
  /** A status, or `4xx`. */
  readonly status?: number | string;
  readonly method?: string;
  readonly path?: string;
  readonly principal_type?: string;
  readonly principal_id?: string;
  readonly auth_impersonated_by?: string;
  readonly request_id?: string;
  readonly since?: number;
  readonly until?: number;
}
