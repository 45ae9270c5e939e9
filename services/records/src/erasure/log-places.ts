import { quoteIdentifier } from '@recordbus/schema';
import { fileFieldsOf } from '../files/file-changes.ts';
import { cleanedAtOnce, namesOneOf, type Place } from './place.ts';

/** Earlier versions, also from a time when the collection kept its history. */
const history: Place = {
  name: 'history',
  async clean(query, { collectionId, ids, history: how }) {
    const table = `history.${quoteIdentifier(collectionId)}`;
    const [found] = await query<{ is_there: boolean }>({
      text: 'select to_regclass($1) is not null as is_there',
      values: [table],
    });
    if (!found?.is_there) return {};
    const picked = `ctid = any(array(select ctid from ${table}
      where record_id = any($1::text[])${how === 'redact' ? " and snapshot::text <> '{}'" : ''} limit ${cleanedAtOnce}))`;
    const rows = await query({
      text:
        how === 'purge'
          ? `delete from ${table} where ${picked} returning 1`
          : `update ${table} set snapshot = '{}' where ${picked} returning 1`,
      values: [ids],
    });
    return { counts: { history: rows.length }, isLeft: rows.length === cleanedAtOnce };
  },
};

/** The request log's rows of an account. Guests' rows name nobody, and rows of others have at most the record's id. */
const requests: Place = {
  name: 'requests',
  isOfAccounts: true,
  async clean(query, { ownIds }) {
    const rows = await query({
      text: `delete from system.requests where principal_type = 'user' and principal_id = any($1::text[]) returning 1`,
      values: [ownIds],
    });
    return { counts: { requests: rows.length } };
  },
};

/** Downloads of the records' files, by anyone: the path has the name under which the file was sent. */
const downloads: Place = {
  name: 'downloads',
  async clean(query, { collection, ownIds }) {
    if (collection && fileFieldsOf(collection).length === 0) return {};
    const rows = await query({
      text: `update system.requests set path = regexp_replace(path, '^(.*?/api/files/[^/]+/[^/]+)/.*$', '\\1')
        where substring(path from '/api/files/[^/]+/([^/]+)/.') = any($1::text[]) returning 1`,
      values: [ownIds],
    });
    return { counts: { requests: rows.length } };
  },
};

/**
 * Audit rows by or about the records. Ids become keyed hashes, so that rows of one account still belong together. Addresses,
 * user agents and details go.
 */
const audit: Place = {
  name: 'audit',
  async clean(query, { ownIds, tellingIds, hashOf, emails }) {
    const rows = await query({
      text: `with named as materialized (
          select * from unnest($1::text[], $2::text[]) as n (id, hash)
        ), found as materialized (
          select a.id, actor.hash as actor, coalesce(target.hash, file.hash) as target from system.audit a
          left join named actor on actor.id = a.actor_id and a.actor_type = 'user'
          left join named target on target.id = a.target_id
          left join named file on file.id = split_part(a.target_id, '/', 2)
          where actor.id is not null or target.id is not null or file.id is not null
            or ${namesOneOf('a.details::text', '$4::text[]')}
            or exists (select from unnest($3::text[]) as e (email)
              where strpos(lower(a.details::text), e.email) > 0 or lower(a.target_id) = e.email)
          limit ${cleanedAtOnce}
        )
        update system.audit a set details = '{}', actor_id = coalesce(found.actor, a.actor_id),
          target_id = case when found.target is not null then found.target
            when lower(a.target_id) = any($3::text[]) then null else a.target_id end,
          ip = case when found.actor is null then a.ip end,
          user_agent = case when found.actor is null then a.user_agent end
        from found where a.id = found.id returning 1`,
      values: [ownIds, ownIds.map(hashOf), emails, tellingIds],
    });
    return { counts: { audit: rows.length }, isLeft: rows.length === cleanedAtOnce };
  },
};

/** Mails that wait, changes that still cause one, and the mail log. */
const mails: Place = {
  name: 'mails',
  async clean(query, { collectionId, ids, emails }) {
    const waiting = await query({
      text: `delete from system.mail_queue where lower(recipient) = any($1::text[])
        or (collection_id = $2 and record_id = any($3::text[])) returning 1`,
      values: [emails, collectionId, ids],
    });
    const changes = await query({
      text: 'delete from system.account_changes where collection_id = $1 and account_id = any($2::text[]) returning 1',
      values: [collectionId, ids],
    });
    const logged = await query({
      text: `delete from system.mails where lower(recipient) = any($1::text[])
        or (collection_id = $2 and record_id = any($3::text[])) returning 1`,
      values: [emails, collectionId, ids],
    });
    return { counts: { mails: waiting.length + changes.length + logged.length } };
  },
};

/** Mails that came in from the account's address, while they wait for an extension, and their jobs. */
const mailsIn: Place = {
  name: 'mails-in',
  isOfAccounts: true,
  clean: async (query, { eraseMails }) => ({ counts: { mails: await eraseMails(query) } }),
};

/** SQL: whether a text has one of the ids ($1) as a word, or one of the addresses ($2). */
const mentions = (text: string): string =>
  `(exists (select from regexp_split_to_table(${text}, '[^A-Za-z0-9_-]+') as word where word = any($1::text[]))
            or exists (select from unnest($2::text[]) as e (email) where strpos(lower(${text}), e.email) > 0))`;

/**
 * Extensions' jobs whose input or key names a record, and what failed jobs and crons said about one. A job that waits would run
 * without its input: it is cancelled.
 */
const extensionJobs: Place = {
  name: 'extension-jobs',
  async clean(query, { tellingIds, emails }) {
    const values = [tellingIds, emails];
    await query({
      text: `update system.extension_jobs q set input = '{}', key = null, error = null, progress_message = null,
          state = case when q.state in ('pending', 'running') then 'cancelled' else q.state end,
          finished_at = coalesce(q.finished_at, clock_timestamp()), lease_until = null, lease_token = null
        where (q.input::text <> '{}' and (${namesOneOf('q.input::text', '$1::text[]')}
            or exists (select from unnest($2::text[]) as e (email) where strpos(lower(q.input::text), e.email) > 0)
          )) or (q.key is not null and ${mentions('q.key')})`,
      values,
    });
    await query({
      text: `update system.extension_jobs q set error = null, progress_message = null
        where (q.error is not null or q.progress_message is not null)
          and ${mentions("concat_ws(' ', q.error, q.progress_message)")}`,
      values,
    });
    await query({
      text: `update system.cron_runs r set error = 'the error named an erased record'
        where r.error is not null and ${mentions('r.error')}`,
      values,
    });
    return {};
  },
};

/** Answers that are kept for idempotency keys. */
const answers: Place = {
  name: 'answers',
  async clean(query, { tellingIds, eraseAnswers }) {
    await eraseAnswers(query, tellingIds);
    return {};
  },
};

/**
 * What uploads said about files that are gone. Their removal deletes the rows too; files of earlier deletes may have
 * left some.
 */
const uploads: Place = {
  name: 'uploads',
  async clean(query, { collectionId, ids }) {
    await query({
      text: 'update system.uploaded_files set original = null where collection_id = $1 and record_id = any($2::text[])',
      values: [collectionId, ids],
    });
    return {};
  },
};

export const logPlaces: readonly Place[] = [
  history,
  requests,
  downloads,
  audit,
  mails,
  mailsIn,
  extensionJobs,
  answers,
  uploads,
];
