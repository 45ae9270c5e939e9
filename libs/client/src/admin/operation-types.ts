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

/** A cron of an extension, or of the product (extensions §5.3). */
export interface Cron {
  readonly name: string;
  /** Null for the product's own. */
  readonly extension: string | null;
  readonly schedule: string;
  readonly time_zone: string;
  readonly missed: 'skip' | 'run once';
  readonly timeout_ms: number;
  readonly next_run_at: number | null;
  readonly last_run: CronRun | null;
}

/** A metric from all services and replicas, with its values. */
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

/** Whether the services are ready, with each check's result. */
export interface Readiness {
  readonly status: string;
  readonly checks: Readonly<Record<string, string>>;
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

/** One subject's settings. */
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

/** Selects audit log rows (admins §6.1). */
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
  /** The trace; null for a row that is older than this member. */
  readonly trace_id: string | null;
  /** How many refusals, in one second to one address, the row stands for. */
  readonly count: number;
}

/** Selects request log rows (admins §7.2). */
export interface LogFilter {
  readonly page?: number;
  readonly perPage?: number;
  /** A status, or `4xx`. */
  readonly status?: number | string;
  readonly method?: string;
  readonly path?: string;
  /** A type of caller, or several, such as `guest,user`. */
  readonly principal_type?: string;
  readonly principal_id?: string;
  readonly auth_impersonated_by?: string;
  readonly request_id?: string;
  readonly since?: number;
  readonly until?: number;
  /** Skips the count, which is slow for many rows. The totals are -1. */
  readonly skipTotal?: boolean;
}
