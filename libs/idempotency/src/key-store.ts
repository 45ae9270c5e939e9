import type { Query } from '@recordbus/database';

/** How long an answer is kept (http §7.2). */
export const keptFor = "interval '24 hours'";

/** An answer's bytes (SQL). */
const bytesOfAnswer = 'coalesce(octet_length(json), octet_length(answer))';
/** Whether an answer is large (SQL): the condition on the index `idempotency_keys_large`. */
const isLarge = 'octet_length(json) > 16384 or octet_length(answer) > 16384';

/** A key's row and its holder. */
export interface Hold {
  readonly id: Buffer;
  /** Random; distinguishes this holder from one that takes the key over. */
  readonly token: string;
}

/** A key's row after an attempt to claim it. */
export interface FoundKey {
  /** Whether the caller holds the key now. */
  readonly isMine: boolean;
  readonly fingerprint: Buffer | null;
  /** The encrypted answer. */
  readonly answer: Buffer | null;
  /** The answer that a statement kept. */
  readonly written: WrittenAnswer | null;
}

/** The answer from a statement that keeps it itself. */
interface WrittenAnswer {
  readonly status: number;
  readonly etag: string;
  readonly json: string;
}

/**
 * Claims a key that is new, expired, or held by a process that has died. Returns undefined when another request claimed
 * or released it at the same moment.
 */
export async function claimKey(query: Query, { id, token }: Hold, leaseMs: number): Promise<FoundKey | undefined> {
  const [row] = await query<FoundKey>({
    name: 'claim-idempotency-key',
    text: `with mine as (
  insert into system.idempotency_keys as k (id, token, lease_until, expires_at)
  values ($1, $2, now() + $3 * interval '1 millisecond', now() + ${keptFor})
  on conflict (id) do update
    set token = excluded.token, lease_until = excluded.lease_until, expires_at = excluded.expires_at,
      fingerprint = null, answer = null, status = null, etag = null, json = null
    where k.expires_at <= now() or (k.fingerprint is null and k.lease_until <= now())
  returning id
)
select true as "isMine", null::bytea as fingerprint, null::bytea as answer, null::json as written from mine
union all
select false, k.fingerprint, k.answer,
  case when k.json is not null then json_build_object('status', k.status, 'etag', k.etag, 'json', k.json) end
from system.idempotency_keys k
where k.id = $1 and not exists (select from mine)`,
    values: [id, token, leaseMs],
  });
  return row;
}

/** Whether a row has this id, expired or not. */
export async function isKeyKnown(read: Query, id: Buffer): Promise<boolean> {
  const rows = await read({
    name: 'find-idempotency-key',
    text: 'select from system.idempotency_keys where id = $1',
    values: [id],
  });
  return rows.length > 0;
}

/** Extends the lease on a key whose request is still running. */
export async function renewLease(query: Query, { id, token }: Hold, leaseMs: number): Promise<void> {
  await query({
    text: `update system.idempotency_keys set lease_until = now() + $3 * interval '1 millisecond'
where id = $1 and token = $2 and fingerprint is null`,
    values: [id, token, leaseMs],
  });
}

/** Stores the answer; returns false and stores nothing when another request has taken the key over. */
export async function keepAnswer(
  query: Query,
  { id, token }: Hold,
  fingerprint: Buffer,
  answer: Buffer,
): Promise<boolean> {
  const rows = await query({
    name: 'keep-idempotent-answer',
    text: `update system.idempotency_keys set fingerprint = $3, answer = $4, expires_at = now() + ${keptFor}
where id = $1 and token = $2 returning 1`,
    values: [id, token, fingerprint, answer],
  });
  return rows.length > 0;
}

/** Releases a key, so that the next request with it is a first one. */
export async function releaseKey(query: Query, { id, token }: Hold): Promise<void> {
  await query({
    text: 'delete from system.idempotency_keys where id = $1 and token = $2 and fingerprint is null',
    values: [id, token],
  });
}

/**
 * Forgets the oldest large answers, so that those that stay have at most `maxBytes`. Their keys stay used. Returns how
 * many answers it forgot.
 */
export async function forgetLargeAnswers(query: Query, maxBytes: number): Promise<number> {
  const rows = await query({
    name: 'forget-large-answers',
    text: `update system.idempotency_keys k set answer = null, json = null from (
  select id, sum(${bytesOfAnswer}) over (order by expires_at desc, id) as bytes
  from system.idempotency_keys where ${isLarge}
) large where k.id = large.id and large.bytes > $1 returning 1`,
    values: [maxBytes],
  });
  return rows.length;
}

/** Deletes up to `limit` expired rows and returns their number; replicas do not wait for each other. */
export async function sweepKeys(query: Query, limit: number): Promise<number> {
  const rows = await query({
    text: `delete from system.idempotency_keys where id in (
  select id from system.idempotency_keys where expires_at <= now() order by expires_at limit $1 for update skip locked
) returning 1`,
    values: [limit],
  });
  return rows.length;
}
