/**
 * What a queue's table gets: SQL that inserts $1 rows, if it has values. $2 is a webhook without deliveries of its own, which is
 * disabled; the one that is named `Failing` is enabled.
 */
type Fillings = Readonly<Record<string, readonly string[]>>;

const ids = 'from generate_series(1, $1::integer) n';
const webhook = '$2::text';

/** Rows that nobody takes during the test: ended ones, ones whose time comes later, and due ones whose owner is away. */
export const fillings: Fillings = {
  extension_jobs: [
    // Ended ones first, as old ones are in a table.
    `insert into system.extension_jobs (id, extension, name, input, state, started_at, finished_at)
      select gen_random_uuid(), 'work', 'note', '{}', 'done', now(), now() ${ids}`,
    `insert into system.extension_jobs (id, extension, name, input, due_at)
      select gen_random_uuid(), 'unloaded', 'note', '{}', now() + interval '1 day' ${ids}`,
    `insert into system.extension_jobs (id, extension, name, input, is_due)
      select gen_random_uuid(), 'unloaded', 'note', '{}', true ${ids}`,
  ],
  outbox: [
    `insert into system.outbox (event_id, event, body, published_at, stream_sequence)
      select gen_random_uuid(), 'filled.create', '{}', now(), 1 ${ids}`,
  ],
  large_events: [`insert into system.large_events (id, body) select gen_random_uuid(), '{}' ${ids}`],
  events: [
    `insert into system.events (id, occurred_at, event, body)
      select gen_random_uuid(), now(), 'filled.create', '{}' ${ids}`,
  ],
  deliveries: [
    `insert into system.deliveries (id, occurred_at, event_id, webhook_id, event, status)
      select gen_random_uuid(), now(), gen_random_uuid(), ${webhook}, 'filled.create', 'success' ${ids}`,
  ],
  delivery_attempts: [
    `insert into system.delivery_attempts (delivery_id, occurred_at, attempt, at, duration_ms)
      select gen_random_uuid(), now(), 1, now(), 1 ${ids}`,
  ],
  delivery_queue: [
    `insert into system.delivery_queue (delivery_id, occurred_at, event_id, webhook_id, next_attempt_at)
      select gen_random_uuid(), now(), gen_random_uuid(), ${webhook}, now() + interval '1 day' ${ids}`,
    `insert into system.delivery_queue (delivery_id, occurred_at, event_id, webhook_id)
      select gen_random_uuid(), now(), gen_random_uuid(), ${webhook} ${ids}`,
    `insert into system.delivery_queue (delivery_id, occurred_at, event_id, webhook_id, attempt, next_attempt_at)
      select gen_random_uuid(), now(), gen_random_uuid(), (select id from system.webhooks where name = 'Failing'), 3,
        now() + interval '1 day' ${ids}`,
  ],
  delivery_lanes: [
    `insert into system.delivery_lanes (webhook_id, key, next_attempt_at)
      select ${webhook}, n::text, 'infinity' ${ids}`,
    // Only statistics say that no lane is blocked.
    'analyze system.delivery_lanes',
  ],
  ordered_deliveries: [
    `insert into system.ordered_deliveries
        (delivery_id, occurred_at, event_id, webhook_id, lane_id, stream_life, stream_sequence)
      select gen_random_uuid(), now(), gen_random_uuid(), webhook_id, id, 0, 1 from system.delivery_lanes
      where webhook_id = ${webhook} limit $1`,
  ],
  polled_deliveries: [
    `insert into system.polled_deliveries (webhook_id, position, delivery_id, occurred_at)
      select ${webhook}, n, gen_random_uuid(), now() ${ids}`,
  ],
  mails: [
    `insert into system.mails (id, template, recipient, state, finished_at)
      select gen_random_uuid(), 'reset', 'nobody@example.com', 'sent', now() ${ids}`,
  ],
  mail_queue: [
    `insert into system.mail_queue (template, recipient, variables, expires_at, next_attempt_at, client, address, turn_at)
      select 'reset', 'nobody@example.com', '{}', now() + interval '1 day', now() + interval '1 hour', 'other', '10.0.0.9',
        now() + interval '1 day' ${ids}`,
    // The claim orders by turn those that are due. Only statistics say that they are few.
    'analyze system.mail_queue',
  ],
  mail_contents: [`insert into system.mail_contents (id, content, bytes) select gen_random_uuid(), '', 1 ${ids}`],
  jobs: [
    `insert into system.jobs (id, kind, state, collection_id, collection_name, actor, request, options, body_id, body_bytes,
        rows_total, started_at, finished_at)
      select gen_random_uuid(), 'import', 'done', 'c', 'c', jsonb_build_object('type', 'admin', 'id', n), '{}', '{}',
        gen_random_uuid(), 1, 1, now(), now() ${ids}`,
  ],
  data_jobs: [
    `insert into system.data_jobs (id, kind, cause, state, collection_id, collection_name, record_id, actor, request, options,
        started_at, finished_at)
      select gen_random_uuid(), 'erase', 'request', 'done', 'c', 'c', n::text, jsonb_build_object('type', 'admin', 'id', n),
        '{}', '{}', now(), now() ${ids}`,
  ],
  cron_runs: [
    `insert into system.cron_runs (cron, cause, status, finished_at) select 'work.asks', 'manual', 'success', now() ${ids}`,
  ],
  file_removals: [
    `insert into system.file_removals (collection_id, record_id, due_at) select 'c', n::text, now() + interval '1 day' ${ids}`,
  ],
  uploaded_files: [
    `insert into system.uploaded_files (collection_id, record_id, name, size, type) select 'c', n::text, 'a', 1, 'b' ${ids}`,
  ],
  idempotency_keys: [
    `insert into system.idempotency_keys (id, token, lease_until, expires_at, status, json)
      select decode(md5(n::text), 'hex'), gen_random_uuid(), now(), now() + interval '1 day', 201, '{}' ${ids}`,
  ],
  extension_values: [
    `insert into system.extension_values (extension, key, value, expires_at)
      select 'work', 'filled ' || n, '1', now() + interval '1 day' ${ids}`,
  ],
  inbound_mails: [`insert into system.inbound_mails (id, content, bytes) select gen_random_uuid(), '', 1 ${ids}`],
  sessions: [
    `insert into system.sessions (id, collection_id, account_id, created_at, last_used_at, expires_at)
      select 'filled' || n, 'c', n::text, t, t, t + 86400 from generate_series(1, $1::integer) n,
        (select extract(epoch from now())::bigint as t) t`,
  ],
  one_time_tokens: [
    `insert into system.one_time_tokens (token_hash, purpose, collection_id, account_id, created_at, expires_at)
      select md5(n::text), 'reset', 'c', n::text, t, t + 86400 from generate_series(1, $1::integer) n,
        (select extract(epoch from now())::bigint as t) t`,
  ],
  audit: [
    `insert into system.audit (id, at, action, actor_type) select 'filled' || n, extract(epoch from now()), 'filled', 'system' ${ids}`,
  ],
  used_file_tokens: [
    `insert into system.used_file_tokens (id, expires_at) select 'filled' || n, now() + interval '1 day' ${ids}`,
  ],
};
