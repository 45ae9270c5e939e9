import type { Query } from '@recordbus/database';
import { notFound } from '@recordbus/errors';
import { nextAttempt } from './delivery-store.ts';
import type { EventsQuery } from './event-schema.ts';

/** A page scans at most this many events, so that a rare match does not scan them all. */
const maxScanned = 10_000;

const ms = (column: string): string => `floor(extract(epoch from ${column}) * 1000)::bigint`;

const facts = `'id', e.id, 'event', e.event, 'at_ms', ${ms('e.occurred_at')}, 'record_id', e.record_id,
  'version', e.version, 'actor', case when e.actor_type is not null
    then json_build_object('type', e.actor_type, 'id', e.actor_id) end,
  'request_id', e.request_id, 'trace_id', substr(e.traceparent, 4, 32)`;

const deliveryFacts = `'id', d.id, 'webhook_id', d.webhook_id, 'webhook_name', w.name, 'status', d.status,
  'attempt', d.attempt, 'response_code', d.response_code, 'created_at_ms', ${ms('d.created_at')},
  'completed_at_ms', ${ms('d.completed_at')}`;

const ofEvent = 'd.event_id = e.id and d.occurred_at = e.occurred_at';

/** SQL for event `e`'s newest deliveries as a list. */
const deliveries = (limit: number, more = ''): string => `(
  select coalesce(json_agg(json_build_object(${deliveryFacts}${more}) order by d.created_at desc, d.id desc), '[]')
  from (select * from system.deliveries d where ${ofEvent} order by d.created_at desc, d.id desc limit ${limit}) d
  join system.webhooks w on w.id = d.webhook_id)`;

const counts = `(select coalesce(json_object_agg(status, total), '{}') from (
    select d.status, count(*) as total from system.deliveries d where ${ofEvent} group by d.status
  ) as by_status)`;

const attempts = `, 'error', d.error, 'response_body', d.response_body,
  'next_attempt_at_ms', ${nextAttempt(ms)},
  'attempts', (
    select coalesce(json_agg(json_build_object(
      'at_ms', ${ms('a.at')}, 'response_code', a.response_code, 'duration_ms', a.duration_ms, 'error', a.error
    ) order by a.attempt), '[]')
    from system.delivery_attempts a where a.delivery_id = d.id and a.occurred_at = d.occurred_at
  )`;

/** Returns the whole answer with stored events, newest first, as JSON text (webhooks §8.1). */
export async function listEvents(query: Query, wanted: EventsQuery): Promise<string> {
  const { bounds, conditions, values } = conditionsOf(wanted);
  const { perPage } = wanted;
  const scanned = conditions.length > 0 ? maxScanned : perPage;
  const rows = await query<{ json: string }>({
    text: `with scanned as materialized (
        select id, occurred_at, event, record_id, version, actor_type, actor_id, request_id, traceparent
        from system.events ${where(bounds)} order by occurred_at desc, id desc limit ${scanned}
      ), found as materialized (
        select * from scanned e ${where(conditions)} order by occurred_at desc, id desc limit ${perPage}
      )
      select json_build_object(
        'data', (
          select coalesce(json_agg(json_build_object(
            ${facts}, 'deliveries', ${deliveries(20)}, 'counts', ${counts}
          ) order by e.occurred_at desc, e.id desc), '[]') from found e
        ),
        'perPage', ${perPage},
        'next', case
          when (select count(*) from found) = ${perPage} then (${lastOf('found')})
          when (select count(*) from scanned) = ${scanned} then (${lastOf('scanned')})
        end
      )::text as json`,
    values,
  });
  return rows[0]?.json ?? '';
}

/** SQL for the cursor after the last of these events: its time in microseconds, and its id. */
const lastOf = (events: string): string =>
  `select (extract(epoch from occurred_at) * 1000000)::bigint || '_' || id from ${events} order by occurred_at, id limit 1`;

const where = (conditions: readonly string[]): string =>
  conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';

/** `bounds` use an index; `conditions` are checked for each event within them. */
function conditionsOf(wanted: EventsQuery): { bounds: string[]; conditions: string[]; values: unknown[] } {
  const values: unknown[] = [];
  const add = (list: string[], value: unknown, condition: (placeholder: string) => string): void => {
    if (value !== undefined) list.push(condition(`$${values.push(value)}`));
  };
  const { cursor, record, since, until, event, request_id, webhook, status } = wanted;
  const [bounds, conditions]: [string[], string[]] = [[], []];
  if (cursor) {
    const [time, id] = [`$${values.push(cursor.atUs)}`, `$${values.push(cursor.id)}`];
    bounds.push(`(occurred_at, id) < (timestamptz 'epoch' + ${time}::bigint * interval '1 microsecond', ${id}::uuid)`);
  }
  add(bounds, record, (one) => `record_id = ${one}`);
  add(bounds, since, (one) => `occurred_at >= to_timestamp(${one})`);
  add(bounds, until, (one) => `occurred_at < to_timestamp(${one}::bigint + 1)`);
  add(
    conditions,
    event,
    (one) =>
      `(${one} = '*' or e.event = ${one} or (right(${one}, 2) = '.*' and starts_with(e.event, left(${one}, -1))))`,
  );
  add(conditions, request_id, (one) => `e.request_id = ${one}`);
  const delivered = (condition: string): string =>
    `exists (select from system.deliveries d where ${ofEvent} and ${condition})`;
  if (webhook !== undefined && status !== undefined) {
    const [one, other] = [`$${values.push(webhook)}`, `$${values.push(status)}`];
    conditions.push(delivered(`d.webhook_id = ${one} and d.status = ${other}`));
  } else {
    add(conditions, webhook, (one) => delivered(`d.webhook_id = ${one}`));
    add(conditions, status, (one) => delivered(`d.status = ${one}`));
  }
  return { bounds, conditions, values };
}

/** Returns the whole answer with one event as JSON text. Throws 404. */
export async function getEvent(query: Query, id: string): Promise<string> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) throw notFound('event');
  const rows = await query<{ json: string }>({
    text: `select json_build_object('data', json_build_object(
        ${facts}, 'body', e.body::json, 'deliveries', ${deliveries(100, attempts)}, 'counts', ${counts}
      ))::text as json
      from system.events e where e.id = $1::uuid limit 1`,
    values: [id],
  });
  if (!rows[0]) throw notFound('event');
  return rows[0].json;
}
