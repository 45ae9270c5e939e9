import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from 'kysely';

/** The product's own tables, in schema `system`. Times are unix seconds unless the name says otherwise. */
export interface SystemTables {
  collections: CollectionsTable;
  versions: { name: string; version: number };
  admins: AdminsTable;
  instance: { key: string; value: string };
  settings: { key: string; value: string; updated_at: number };
  outbox: OutboxTable;
  audit: AuditTable;
  sessions: SessionsTable;
  one_time_tokens: OneTimeTokensTable;
  recovery_codes: RecoveryCodesTable;
  oauth_links: OauthLinksTable;
  oauth_states: OauthStatesTable;
  failed_logins: { key: string; failures: number; resets_at: number };
  revocations: { id: GeneratedAlways<number>; subject: string; revoked_at: Generated<Date> };
  leases: { name: string; holder: string; expires_at: Date };
  webhooks: WebhooksTable;
  events: EventsTable;
  deliveries: DeliveriesTable;
  delivery_queue: DeliveryQueueTable;
  delivery_attempts: DeliveryAttemptsTable;
  large_events: { id: string; body: string; created_at: Generated<Date> };
  parked_messages: ParkedMessagesTable;
  mail_queue: MailQueueTable;
  requests: RequestsTable;
  rate_windows: { key: string; ends_at_ms: number; used: number };
}

interface CollectionsTable {
  id: string;
  name: string;
  type: 'base' | 'auth' | 'view';
  fields: JSONColumnType<unknown[]>;
  view_query: string | null;
  list_rule: string | null;
  view_rule: string | null;
  create_rule: string | null;
  update_rule: string | null;
  delete_rule: string | null;
  history_enabled: boolean;
  lacking: JSONColumnType<('created_at' | 'updated_at')[]>;
  indexes: JSONColumnType<unknown[]>;
  created_at: number;
  updated_at: number;
}

interface AdminsTable {
  id: string;
  email: string;
  password_hash: string;
  token_version: Generated<number>;
  created_at: number;
  updated_at: number;
}

/** Events on their way to the bus (migration 0001). */
interface OutboxTable {
  id: GeneratedAlways<number>;
  event_id: string;
  event: string;
  /** `<collection>/<id>`: events with the same key are published one after another. */
  record_key: string | null;
  /** The envelope, as `envelopeSql` of libs/bus builds it. */
  body: string;
  traceparent: string | null;
  created_at: Generated<Date>;
  published_at: Date | null;
  stream_sequence: number | null;
  failures: Generated<number>;
  error: string | null;
  parked_at: Date | null;
  /** For events that change how many records a collection has: which one, and by how many. */
  collection_id: string | null;
  records_added: Generated<number>;
  transaction_id: GeneratedAlways<string>;
}

/** Audited actions (contract §7); the actor of a guest's has no id. */
interface AuditTable {
  id: string;
  at: number;
  action: string;
  actor_type: 'user' | 'admin' | 'guest' | 'system';
  actor_id: string | null;
  impersonated_by: string | null;
  target_type: string | null;
  target_id: string | null;
  ip: string | null;
  user_agent: string | null;
  details: JSONColumnType<Record<string, unknown>>;
}

/** What the gateway answered (migration 0017); kept by the day. */
interface RequestsTable {
  id: string;
  at: number;
  method: string;
  /** Without the query, which may hold tokens. */
  path: string;
  status: number;
  duration_ms: number;
  ip: string | null;
  user_agent: string | null;
  principal_type: 'guest' | 'user' | 'admin';
  principal_id: string | null;
  auth_impersonated_by: string | null;
  request_id: string;
}

/** Who is signed in (migrations 0010, 0015); an admin's session belongs to no collection. */
interface SessionsTable {
  id: string;
  collection_id: string | null;
  account_id: string;
  created_at: number;
  last_used_at: number;
  expires_at: number;
  ip: string | null;
  user_agent: string | null;
  /** The admin who acts as the account's user in it. */
  impersonated_by: string | null;
}

/** Links and codes that open something once, by their hash. */
interface OneTimeTokensTable {
  token_hash: string;
  purpose: string;
  collection_id: string;
  account_id: string;
  data: JSONColumnType<Record<string, unknown>>;
  failures: Generated<number>;
  created_at: number;
  expires_at: number;
}

interface WebhooksTable {
  id: string;
  name: string;
  url: string;
  events: string[];
  secret: string;
  headers: JSONColumnType<Record<string, string>>;
  /** tstzmultirange: when the webhook listens. */
  active: ColumnType<string, string | undefined, string>;
  enabled: GeneratedAlways<boolean>;
  retry_max: number;
  retry_backoff: 'exponential' | 'fixed';
  retry_delay_ms: number;
  timeout_ms: number;
  /** Signs beside the new one until then. */
  previous_secret: string | null;
  previous_secret_until: Date | null;
  /** Attempts that failed since the last success. */
  failures: Generated<number>;
  failing_since: Date | null;
  paused_until: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

interface EventsTable {
  id: string;
  occurred_at: Date;
  event: string;
  /** The exact text that is signed and sent. */
  body: string;
  traceparent: string | null;
}

interface DeliveriesTable {
  id: string;
  occurred_at: Date;
  event_id: string;
  webhook_id: string;
  event: string;
  status: 'pending' | 'success' | 'dead';
  attempt: Generated<number>;
  response_code: number | null;
  response_body: string | null;
  error: string | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  completed_at: Date | null;
}

interface DeliveryQueueTable {
  delivery_id: string;
  occurred_at: Date;
  event_id: string;
  webhook_id: string;
  attempt: Generated<number>;
  next_attempt_at: Generated<Date>;
  lease_until: Date | null;
  lease_token: string | null;
  lost_leases: Generated<number>;
}

interface DeliveryAttemptsTable {
  delivery_id: string;
  occurred_at: Date;
  attempt: number;
  at: Date;
  response_code: number | null;
  duration_ms: number;
  error: string | null;
}

interface ParkedMessagesTable {
  id: GeneratedAlways<number>;
  stream_sequence: number;
  subject: string;
  body: Buffer;
  error: string;
  parked_at: Generated<Date>;
}

/** Mail that is still to be sent (migration 0007). */
interface MailQueueTable {
  id: Generated<string>;
  template: string;
  recipient: string;
  /** What the template is filled with; holds live tokens and codes. */
  variables: JSONColumnType<Record<string, string>>;
  /** When it is of no use any more. */
  expires_at: Date;
  created_at: Generated<Date>;
  attempts: Generated<number>;
  next_attempt_at: Generated<Date>;
  lease_until: Date | null;
  lease_token: string | null;
}

/** The codes with which an account gets in without its authenticator app (migration 0011). */
interface RecoveryCodesTable {
  collection_id: string;
  account_id: string;
  digest: string;
  /** The same for all codes of a set. */
  salt: string;
  used_at: number | null;
}

interface OauthLinksTable {
  collection_id: string;
  provider: string;
  provider_user_id: string;
  account_id: string;
  created_at: number;
}

/** PKCE verifiers, by the hash of the state that they go with. */
interface OauthStatesTable {
  collection_id: string;
  state_hash: string;
  provider: string;
  redirect_uri: string;
  verifier: string;
  used_at: number | null;
  expires_at: number;
}
