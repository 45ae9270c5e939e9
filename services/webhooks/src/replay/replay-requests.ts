import type { Query } from '@recordbus/database';

/** A request to send a webhook the events that were never made for it (webhooks §4.5). */
export interface ReplayRequest {
  readonly id: string;
  readonly webhookId: string;
  /** RFC 3339. */
  readonly since: string;
  readonly until: string;
  readonly isDryRun: boolean;
}

/** Takes the oldest request that no replica has taken. Requests that nobody waits for any longer are removed. */
export async function takeRequest(query: Query): Promise<ReplayRequest | undefined> {
  const [request] = await query<ReplayRequest>({
    name: 'replay.take',
    text: `with old as (
        delete from system.webhook_replays where requested_at < now() - interval '1 hour'
      )
      update system.webhook_replays set taken_at = now() where id = (
        select id from system.webhook_replays where taken_at is null and requested_at >= now() - interval '1 hour'
        order by id limit 1 for update skip locked
      )
      returning id, webhook_id as "webhookId", to_json(since) #>> '{}' as since, to_json(until) #>> '{}' as until,
        is_dry_run as "isDryRun"`,
    values: [],
  });
  return request;
}

/** Answers a request: with how many events it concerns, or with an error. */
export async function answerRequest(
  query: Query,
  { id }: ReplayRequest,
  { count, error }: { readonly count?: number; readonly error?: string },
): Promise<void> {
  await query({
    name: 'replay.answer',
    text: 'update system.webhook_replays set count = $2, error = $3 where id = $1',
    values: [id, count, error],
  });
}
