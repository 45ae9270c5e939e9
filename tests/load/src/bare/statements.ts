import { outboxTable, tableOf } from '../product/product-layout.ts';

/** A copy of the outbox that no relay publishes. */
const outboxCopy = 'bench.outbox';

export const copyOutbox = [
  'create schema bench',
  `create table ${outboxCopy} (like ${outboxTable} including all)`,
] as const;

const columns = (row: string): string =>
  `${row}.id, ${row}.title, ${row}.description, ${row}.public, ${row}.author, ${row}.created_at as created, ${row}.updated_at as updated`;

/** A written row as JSON text, in SQL. */
const shown = (row: string): string => `(select row_to_json(r)::text from (select ${columns(row)}) r)`;

const seconds = 'floor(extract(epoch from now()))::bigint';

/** Value 1 is the id. */
export const getOne = (posts: string): string =>
  `select '{"data":' || row_to_json(r)::text || '}' as body
   from ${tableOf(posts)} t cross join lateral (select ${columns('t')}) r where t.id = $1`;

/** The newest 20 posts. */
export function listTwenty(posts: string, withTotal: boolean): string {
  const table = tableOf(posts);
  const page = `select ${columns('t')} from ${table} t order by t.created_at desc, t.id desc limit 20`;
  const [total, from] = withTotal ? ['c.total', ` from (select count(*) as total from ${table}) c`] : ["'-1'", ''];
  return `select '{"data":[' || (select string_agg(row_to_json(r)::text, ',') from (${page}) r) || '],"totalItems":' || ${total} || '}' as body${from}`;
}

/** Values: title, description, public, author. */
export const insertPost = (posts: string): string =>
  `insert into ${tableOf(posts)} as t (id, created_at, updated_at, title, description, public, author)
   values (uuidv7()::text, ${seconds}, ${seconds}, $1, $2, $3, $4) returning '{"data":' || ${shown('t')} || '}' as body`;

/** The statement with which the product creates: the row and its event. Values as above. */
export const insertPostAndEvent = (posts: string): string => `with new as (
    insert into ${tableOf(posts)} (id, created_at, updated_at, title, description, public, author)
    values (uuidv7()::text, ${seconds}, ${seconds}, $1, $2, $3, $4) returning *
  ), shown as materialized (select n.id, ${shown('n')} as record, gen_random_uuid() as event_id from new n),
  event as (
    insert into ${outboxCopy} (event_id, event, record_key, collection_id, records_added, body)
    select event_id, '${posts}.create', '${posts}/' || id, '${posts}', 1, '{"id":"' || event_id || '","event":"${posts}.create","timestamp":'
      || ${seconds} || ',"collection":"${posts}","data":{"record":' || record || '},"actor":{"type":"guest","id":null}}'
    from shown
  )
  select '{"data":' || record || '}' as body from shown`;

/** Values: id, title. */
export const updatePost = (posts: string): string =>
  `update ${tableOf(posts)} t set title = $2, updated_at = greatest(${seconds}, t.updated_at + 1) where t.id = $1
   returning '{"data":' || ${shown('t')} || '}' as body`;

/** Value 1 is the id. */
export const deletePost = (posts: string): string =>
  `delete from ${tableOf(posts)} where id = $1 returning '{"data":null}' as body`;
