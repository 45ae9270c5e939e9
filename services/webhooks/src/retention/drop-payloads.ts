import type { Query } from '@recordbus/database';

/** A dropped body. It is JSON, so that each version's log can show it. */
const dropped = "'null'";

/**
 * Drops the payloads that webhooks' logs keep no longer (webhooks §2.9). A body that several webhooks got goes when the last
 * of them keeps it no longer. A delivery that waits keeps its payload, and the later ones of its webhook are looked at
 * again next time. Returns how many were dropped.
 */
export async function dropPayloads(query: Query): Promise<number> {
  const [row] = await query<{ count: number }>({
    name: 'retention.payloads',
    text: `with due as (
        select w.id, w.payloads_until, least(
          now() - make_interval(days => w.payload_days),
          (select min(d.created_at) from (
              select delivery_id, occurred_at, webhook_id from system.delivery_queue
              union all select delivery_id, occurred_at, webhook_id from system.ordered_deliveries
            ) as q
            join system.deliveries d on d.id = q.delivery_id and d.occurred_at = q.occurred_at where q.webhook_id = w.id)
        ) as until
        from system.webhooks w where w.payload_days is not null
      ), ended as (
        select d.id, d.event_id, d.occurred_at from due join system.deliveries d on d.webhook_id = due.id
          and d.created_at >= coalesce(due.payloads_until, '-infinity') and d.created_at < due.until
      ), own as (
        update system.deliveries d set body = ${dropped} from ended
        where d.id = ended.id and d.occurred_at = ended.occurred_at and d.body <> ${dropped}
      ), shared as (
        update system.events e set body = ${dropped}
        from (select distinct event_id, occurred_at from ended) as one
        where e.id = one.event_id and e.occurred_at = one.occurred_at and e.body <> ${dropped} and not exists (
          select from system.deliveries d join system.webhooks w on w.id = d.webhook_id
          where d.event_id = e.id and d.occurred_at = e.occurred_at and (d.status = 'pending' or w.payload_days is null
            or exists (select from system.ordered_deliveries o where o.delivery_id = d.id)
            or d.created_at >= now() - make_interval(days => w.payload_days))
        )
        returning e.id
      ), noted as (
        update system.webhooks w set payloads_until = due.until from due
        where w.id = due.id and due.until > coalesce(w.payloads_until, '-infinity')
      )
      select count(*) as count from shared`,
    values: [],
  });
  return row?.count ?? 0;
}
