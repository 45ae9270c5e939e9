import type { Query } from '@recordbus/database';
import { historyTableOf, selectLikeSnapshot, selectSnapshots } from '@recordbus/journal';
import { createParameters, type Parameters, type QuerySchema } from '@recordbus/query';
import { type Collection, recordColumns, selectList, tableOf } from '@recordbus/schema';
import { isRecordId } from '../record/record-id.ts';
import { ruleRefusal } from '../rules/authorise.ts';
import { type Asking, compileRule, isAsked } from '../rules/compile-rule.ts';
import { type Prepared, perCollection, prepare } from '../sql/prepared.ts';

/** Which part of a record's history. */
interface HistoryPage {
  readonly id: string;
  /** 1-based. */
  readonly page: number;
  readonly perPage: number;
}

const open = perCollection((collection) => listStatement(collection, undefined));
const ruled = perCollection((collection, schema: QuerySchema) => listStatement(collection, schema));

/**
 * Reads a page of a record's history, newest first: the whole body of the answer. The view rule is asked of the record,
 * of a deleted one as its last snapshot has it. Throws 403 or 401 where it does not hold; undefined when neither the
 * record nor its history is known.
 */
export async function listHistory(
  query: Query,
  collection: Collection,
  { id, page, perPage }: HistoryPage,
  asking: Asking,
): Promise<string | undefined> {
  if (!isRecordId(id)) return undefined;
  const { parameters, ...statement } = isAsked(collection, 'view', asking.principal)
    ? ruled(collection, asking.schema)
    : open(collection);
  const offset = Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
  const values = [id, page, perPage, offset, ...parameters.values(asking.request)];
  const [row] = await query<{ isAllowed: boolean; body: string }>({ ...statement, values });
  if (row?.isAllowed === false) throw ruleRefusal(asking.principal);
  return row?.body;
}

function listStatement(collection: Collection, schema: QuerySchema | undefined): Prepared & { parameters: Parameters } {
  const parameters = createParameters(5);
  const rule = schema && compileRule(collection, 'view', schema, { row: 'parent', parameters });
  return { ...prepare('history', composeListHistory(collection, rule)), parameters };
}

/**
 * A list of history; its values are the record's id, page, perPage and offset. It gives no row when nothing is known of
 * the record, and one that says so where the rule, a condition on the row `parent`, does not hold.
 */
function composeListHistory(collection: Collection, rule: string | undefined): string {
  const history = historyTableOf(collection);
  const live = `select t.* from ${tableOf(collection)} t where t.id = $1::text`;
  const last = `select * from ${history} where record_id = $1::text and not exists (${live}) order by at desc limit 1`;
  const rows = `select * from ${history} where record_id = $1::text order by at desc limit $3::bigint offset $4::bigint`;
  return `with parent as materialized (
  select ${selectLikeSnapshot(collection, 't')} from (${live}) t
  union all
  ${selectSnapshots(collection, last)}
), verdict as materialized (
  select ${rule === undefined ? 'true' : `(${rule}) is true`} as allowed from parent
)
select v.allowed as "isAllowed", case when v.allowed then (
  select '{"data":{"data":[' || coalesce((
    select string_agg(row_to_json(e.*)::text, ',' order by e.at desc) from (
      select k.id, k.op, row_to_json(r.*) as snapshot, k.actor_id, k.actor_type, k.at
      from (${rows}) k join lateral (${selectSnapshots(collection, 'select k.*')}) n on true
      cross join lateral (select ${selectList(recordColumns(collection), 'n')}) r
    ) e), '') || '],"page":' || $2::bigint || ',"perPage":' || $3::bigint || ',"totalItems":' || c.total
    || ',"totalPages":' || (c.total + $3::bigint - 1) / $3::bigint || '}}'
  from (select count(*) as total from ${history} where record_id = $1::text) c
) end as body
from verdict v`;
}
