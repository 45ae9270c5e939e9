import type { SessionRow } from '../auth/own-account.ts';

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
  /** The version of the definition, for `ifMatch` of a change. */
  readonly etag: string;
  /** Sentences about a change, such as values that are lost. */
  readonly warnings?: readonly string[];
}

/** What a create or a change of a collection takes. */
export type CollectionValues = Partial<
  Omit<CollectionDefinition, 'id' | 'created_at' | 'updated_at' | 'etag' | 'warnings'>
>;

/** A rule to try in the place of a collection's own. */
export interface RuleTrial {
  readonly action: 'list' | 'view' | 'create' | 'update' | 'delete';
  readonly rule: string | null;
  /** The user; null for a guest. */
  readonly caller?: { readonly collection: string; readonly id: string } | null;
  /** The record of a view, an update or a delete. */
  readonly id?: string;
  /** What a create or an update sends. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** What a request would meet. */
export interface RuleVerdict {
  readonly admitted: boolean;
  readonly reason: string | null;
  /** What the caller would read: at most 10 records. */
  readonly records: readonly ({ readonly id: string } & Readonly<Record<string, unknown>>)[] | null;
  readonly total: number | null;
}

/** What a view would show. */
export interface ViewPreview {
  readonly fields: readonly FieldDefinition[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

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
  /** Counts nothing, which is quick however many there are. The totals are -1. */
  readonly skipTotal?: boolean;
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

/** A cron of an extension (extensions §7). */
export interface Cron {
  readonly name: string;
  readonly extension: string;
  readonly schedule: string;
  readonly time_zone: string;
  readonly missed: 'skip' | 'run once';
  readonly timeout_ms: number;
  readonly next_run_at: number | null;
  readonly last_run: CronRun | null;
}

/** A metric of all services and replicas, with its values. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly samples: readonly {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

/** Whether the services are ready, and what each check says. */
export interface Readiness {
  readonly status: string;
  readonly checks: Readonly<Record<string, string>>;
}

export interface AdminAccount {
  readonly id: string;
  readonly email: string;
  readonly created_at: number;
}

/** A user of an auth collection, as admins see it. */
export interface UserAccount {
  readonly id: string;
  readonly email: string;
  readonly verified: boolean;
  readonly anonymous: boolean;
  readonly second_factor: boolean;
  readonly blocked_at: number | null;
  readonly created_at: number;
  readonly last_used_at: number | null;
}

/** A user with the ways into the account. */
export interface UserDetails extends UserAccount {
  readonly has_password: boolean;
  readonly recovery_codes: number;
  readonly links: readonly { readonly provider: string; readonly created_at: number }[];
  readonly sessions: readonly Omit<SessionRow, 'current'>[];
}

export interface SettingDescription {
  readonly key: string;
  readonly about: string;
  readonly takes: string;
  readonly default: string;
  readonly is_secret: boolean;
  readonly is_set: boolean;
  /** Null for a secret. */
  readonly value: string | null;
}

/** The settings of one subject. */
export interface SettingGroup {
  readonly title: string;
  readonly read_by: readonly string[];
  readonly settings: readonly SettingDescription[];
  /** Settings with a name in their keys. */
  readonly families: readonly Pick<SettingDescription, 'key' | 'about' | 'takes'>[];
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

/** Which rows of the audit log a list has (admins §6.1). */
export interface AuditFilter {
  readonly page?: number;
  readonly perPage?: number;
  /** An action, or an area such as `webhooks.*`. */
  readonly action?: string;
  readonly actor_id?: string;
  readonly target_id?: string;
  readonly since?: number;
  readonly until?: number;
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
  /** The trace; null of a row that is older than this member. */
  readonly trace_id: string | null;
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
  /** Counts nothing, which is quick however many there are. The totals are -1. */
  readonly skipTotal?: boolean;
}
