import { hasAccounts } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { deleteRecord } from '../delete/delete-record.ts';
import type { DeleteRules } from '../delete/deletion.ts';
import { fileFieldsOf } from '../files/file-changes.ts';
import type { Call } from '../rules/rule-context.ts';
import type { WriteUnit } from '../write/write-unit.ts';
import type { ErasedRecord } from './erased-store.ts';

/** What an erasure's delete needs. */
export interface DeleteForGoodDeps {
  readonly rules: DeleteRules;
  collections(): readonly Collection[];
}

/** What a delete removed. */
export interface Deleted {
  readonly records: number;
  readonly files: number;
  readonly previews: number;
  /** The accounts' addresses, in lower case. */
  readonly emails: readonly string[];
  /** Those of them that the accounts had proved. */
  readonly provedEmails: readonly string[];
}

/**
 * Deletes a record and its cascades, if it exists, and lists them all as erased. Their delete events have the id only.
 * The unit is a transaction. `isSystem`: the events' actor is the product. Throws 409 for a record that another one
 * needs, and what before hooks throw.
 */
export async function deleteForGood(
  unit: WriteUnit,
  { jobId, collectionId, recordId }: ErasedRecord & { readonly jobId: string },
  call: Call,
  { rules, collections }: DeleteForGoodDeps,
  { isSystem = false } = {},
): Promise<Deleted> {
  const known = collections();
  const collection = known.find(({ id, type }) => id === collectionId && type !== 'view');
  const after = await outboxPosition(unit.query);
  if (collection) await deleteRecord(unit, collection, { id: recordId, versions: undefined }, call, rules);
  const erased = { jobId, collectionId, recordIds: [recordId], after };
  return listErased(unit.query, erased, { collections: known, isSystem });
}

/** Records whose erasure this transaction lists. */
interface Listed {
  readonly jobId: string;
  readonly collectionId: string;
  readonly recordIds: readonly string[];
  /** The outbox's position before the deletes or redactions. */
  readonly after: string;
}

interface ListOptions {
  readonly collections: readonly Collection[];
  readonly isSystem: boolean;
  /** Whether the records were emptied instead of deleted: their events are updates. */
  readonly isRedaction?: boolean;
}

/** The place in the outbox after which this transaction's next events are. */
export async function outboxPosition(query: Query): Promise<string> {
  const [row] = await query<{ position: string }>({
    text: `select coalesce(pg_sequence_last_value(pg_get_serial_sequence('system.outbox', 'id')::regclass), 0)::text as position`,
    values: [],
  });
  return row?.position ?? '0';
}

/**
 * Rewrites the events of this transaction's deletes or redactions after a position, and lists their records. The events
 * get a time after `erased_at`, and all earlier ones of these records have one before it: their locks are held. A
 * redaction's event keeps the emptied record. What a deleted record was stays in `sealed` until the job cleans the
 * outbox: live rules judge it.
 */
export async function listErased(
  query: Query,
  { jobId, collectionId, recordIds, after }: Listed,
  { collections, isSystem, isRedaction = false }: ListOptions,
): Promise<Deleted> {
  const fileFields = collections.map((one) => [one.id, fileFieldsOf(one).map(({ name }) => name)]);
  const [row] = await query<Deleted>({
    text: `with moment as materialized (
        select date_trunc('milliseconds', clock_timestamp()) as erased_at
      ), gone as materialized (
        select id, collection_id, split_part(record_key, '/', 2) as record_id, body::jsonb as body,
          coalesce(body::jsonb #> '{data,previous}', body::jsonb #> '{data,record}') as record
        from system.outbox
        where id > $8::bigint and published_at is null and transaction_id = pg_current_xact_id()
          and case when $7 then records_added = 0 and collection_id = $2 else records_added < 0 end
      ), emptied as (
        update system.outbox o set created_at = moment.erased_at + interval '2 milliseconds',
          sealed = case when $7 then o.sealed else gone.record::text end, body = (gone.body || jsonb_build_object('data', case when $7
              then gone.body -> 'data' || jsonb_build_object('previous', jsonb_build_object('id', gone.record_id))
              else jsonb_build_object('record', jsonb_build_object('id', gone.record_id)) end) || $6::jsonb)::text
        from gone, moment where o.id = gone.id
      ), listed as (
        insert into system.erased_records (job_id, collection_id, record_id, erased_at)
        select $1::uuid, collection_id, record_id, erased_at from gone, moment
        union select $1::uuid, $2, given.id, erased_at from moment, unnest($3::text[]) as given(id)
        on conflict (job_id, collection_id, record_id) do update set erased_at = excluded.erased_at,
          transaction_id = excluded.transaction_id
      )
      select (select count(*) from gone)::integer as records, (
          select count(*) from gone cross join lateral system.file_names(gone.record,
            array(select jsonb_array_elements_text($4::jsonb -> gone.collection_id)))
        )::integer as files, (
          select count(*) from gone join system.previews p using (collection_id, record_id)
        )::integer as previews, coalesce((
          select array_agg(lower(gone.record ->> 'email')) from gone
          where gone.collection_id = any($5::text[]) and gone.record ->> 'email' <> ''
        ), '{}') as emails, coalesce((
          select array_agg(lower(gone.record ->> 'email')) from gone
          where gone.collection_id = any($5::text[]) and gone.record ->> 'email' <> '' and gone.record ->> 'verified' = 'true'
        ), '{}') as "provedEmails"`,
    values: [
      jobId,
      collectionId,
      recordIds,
      JSON.stringify(Object.fromEntries(fileFields)),
      collections.filter(hasAccounts).map(({ id }) => id),
      isSystem ? '{"actor": {"type": "system", "id": null}}' : '{}',
      isRedaction,
      after,
    ],
  });
  return row ?? { records: 0, files: 0, previews: 0, emails: [], provedEmails: [] };
}
