import type { Query } from '@recordbus/database';

export const mailStates = ['waiting', 'sent', 'dead'] as const;

/** A mail in the log (mail §4.1). Times are unix seconds. */
interface LoggedMail {
  readonly id: string;
  readonly to: string;
  readonly template: string;
  readonly state: (typeof mailStates)[number];
  readonly attempts: number;
  readonly last_error: string | null;
  readonly collection_id: string | null;
  readonly record_id: string | null;
  readonly created: number;
  readonly finished: number | null;
}

/** A mail with its attempts. */
interface MailDetails extends LoggedMail {
  /** When it is tried next; null if it has ended. */
  readonly next_attempt: number | null;
  /** The last 100 attempts, oldest first. */
  readonly attempt_log: readonly { readonly at: number; readonly error: string | null }[];
}

/** SQL: the columns that the log copies from the queue. */
export const loggedColumns = 'id, template, recipient, collection_id, record_id, created_at';

interface Outcome {
  /** SQL. */
  readonly state: string;
  /** SQL: why. */
  readonly error: string;
  /** Whether the mail ended without an attempt. Then the log keeps the last attempt's error, if there was one. */
  readonly isUntried?: boolean;
}

/** How many attempts the log keeps. */
const keptAttempts = 100;

/**
 * SQL: writes queue rows' outcome to the log. `rows` has the logged columns and `attempts`. A mail that an older version
 * queued has no row yet.
 */
export function logFrom(rows: string, { state, error, isUntried = false }: Outcome): string {
  const attempt = isUntried
    ? `'[]'::jsonb`
    : `jsonb_build_array(jsonb_build_object('at', floor(extract(epoch from now()))::bigint, 'error', ${error}::text))`;
  return `insert into system.mails as l (${loggedColumns}, attempts, state, last_error, finished_at, attempt_log)
  select ${loggedColumns}, attempts, ${state}, ${error}, case when ${state} <> 'waiting' then now() end, ${attempt} from ${rows}
  on conflict (id) do update set attempts = excluded.attempts, state = excluded.state, finished_at = excluded.finished_at,
    last_error = ${isUntried ? 'coalesce(l.last_error, excluded.last_error)' : 'excluded.last_error'},
    attempt_log = case when jsonb_array_length(l.attempt_log) < ${keptAttempts} then l.attempt_log else l.attempt_log - 0 end
      || excluded.attempt_log`;
}

/** SQL: a row `l` of the log, as admins get it. */
const shownColumns = `l.id, l.recipient as to, l.template, l.state, l.attempts, l.last_error, l.collection_id, l.record_id,
        floor(extract(epoch from l.created_at))::bigint as created,
        floor(extract(epoch from l.finished_at))::bigint as finished`;

interface MailsPage {
  readonly page: number;
  readonly perPage: number;
  readonly state?: (typeof mailStates)[number] | undefined;
  readonly template?: string | undefined;
  /** An address, in any case. */
  readonly to?: string | undefined;
  readonly recordId?: string | undefined;
}

/** Reads a page of the log, newest first, and how many mails there are. */
export async function listMails(
  query: Query,
  { page, perPage, state, template, to, recordId }: MailsPage,
): Promise<{ rows: LoggedMail[]; totalItems: number }> {
  const conditions = [
    { sql: 'state =', value: state },
    { sql: 'template =', value: template },
    { sql: 'lower(recipient) =', value: to?.toLowerCase() },
    { sql: 'record_id =', value: recordId },
  ].filter(({ value }) => value !== undefined);
  const where = ['true', ...conditions.map(({ sql }, index) => `${sql} $${index + 1}`)].join(' and ');
  const values = conditions.map(({ value }) => value);
  const rows = await query<LoggedMail>({
    text: `select ${shownColumns} from system.mails l where ${where} order by id desc limit $${values.length + 1} offset $${values.length + 2}`,
    values: [...values, perPage, Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER)],
  });
  const [count] = await query<{ total: number }>({
    text: `select count(*) as total from system.mails where ${where}`,
    values,
  });
  return { rows, totalItems: count?.total ?? 0 };
}

/** Finds a mail by its id, a UUID, with its attempts. */
export async function findMail(query: Query, id: string): Promise<MailDetails | undefined> {
  const [row] = await query<MailDetails>({
    text: `select ${shownColumns}, floor(extract(epoch from q.next_attempt_at))::bigint as next_attempt, l.attempt_log
      from system.mails l left join system.mail_queue q on q.id = l.id and l.state = 'waiting' where l.id = $1`,
    values: [id],
  });
  return row;
}

/**
 * Makes a waiting mail due now. Returns whether it waits. Call `bus.notify('mail')` after the commit. One that is being
 * sent keeps its next time if the attempt fails.
 */
export async function hurryMail(query: Query, id: string): Promise<boolean> {
  const rows = await query({
    text: 'update system.mail_queue set next_attempt_at = now() where id = $1 and expires_at > now() returning 1',
    values: [id],
  });
  return rows.length > 0;
}

/** How long a row may wait without a queued mail before its end counts as unknown, in minutes. */
const lostMinutes = 10;
/** Rows that one statement deletes. */
const atOnce = 10_000;

/**
 * Removes rows some days after their mail ended. A mail that a replica with an older version ended has no queued mail
 * and no end: it counts as sent, with a note.
 */
export async function tidyMailLog(query: Query, days: number): Promise<void> {
  await query({
    text: `update system.mails l set state = 'sent', finished_at = now(),
        last_error = 'an older version of the auth service sent it or gave it up'
      where state = 'waiting' and created_at < now() - interval '${lostMinutes} minutes'
        and not exists (select from system.mail_queue q where q.id = l.id)`,
    values: [],
  });
  for (;;) {
    const removed = await query({
      text: `delete from system.mails where id in (
          select id from system.mails
          where state <> 'waiting' and finished_at < now() - make_interval(days => $1)
          limit ${atOnce} for update skip locked
        ) returning 1`,
      values: [days],
    });
    if (removed.length < atOnce) return;
  }
}
