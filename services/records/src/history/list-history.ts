import { historyTableOf, selectLikeSnapshot, selectSnapshots, versionOf } from '@recordbus/journal';
import { createParameters, type Parameters, type QuerySchema } from '@recordbus/query';
import { type Collection, recordColumns, selectList, tableOf } from '@recordbus/schema';
import { joinedWithinLimit } from '../read/answer-limit.ts';
import type { RecordReads } from '../read/record-reads.ts';
import { type Prepared, perCollection, prepare } from '../record/prepared.ts';
import { isRecordId } from '../record/record-id.ts';
import { ruleRefusal } from '../rules/authorize.ts';
import { compileRule } from '../rules/compile-rule.ts';
import { needsRuleCheck, type RuleContext } from '../rules/rule-context.ts';

/** A page of a record's history. */
interface HistoryPage {
  readonly id: string;
  /** 1-based. */
  readonly page: number;
  readonly perPage: number;
}

const open = perCollection((collection) => listStatement(collection, undefined));
const ruled = perCollection((collection, schema: QuerySchema) => listStatement(collection, schema));

/**
 * Reads a page of a record's history, newest first, as the whole body of the answer; undefined when neither the record
 * nor a history row exists. The view rule is checked on the record, or on the last snapshot of a deleted one
 * (history §3.2). Throws 403 or 401 where it does not hold, and 422 for a page that takes too long or is too large.
 */
export async function listHistory(
  reads: RecordReads,
  collection: Collection,
  { id, page, perPage }: HistoryPage,
  ruleContext: RuleContext,
): Promise<string | undefined> {
  if (!isRecordId(id)) return undefined;
  const { parameters, ...statement } = needsRuleCheck(collection, 'view', ruleContext)
    ? ruled(collection, ruleContext.schema)
    : open(collection);
  const offset = Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
  const values = [id, page, perPage, offset, reads.maxAnswerBytes(), ...parameters.values(ruleContext.request)];
  const [row] = await reads.shaped<{ isAllowed: boolean; body: string }>({ ...statement, values });
  if (row?.isAllowed === false) throw ruleRefusal(ruleContext.principal);
  return row?.body;
}

function listStatement(collection: Collection, schema: QuerySchema | undefined): Prepared & { parameters: Parameters } {
  const parameters = createParameters(6);
  const rule = schema && compileRule(collection, 'view', schema, { row: 'parent', parameters });
  return { ...prepare('history', composeListHistory(collection, rule)), parameters };
}

/**
 * Composes a list of history rows. Its values are the record's id, page, perPage, offset and the most bytes of the
 * answer. It returns no row for an unknown record. The rule is a condition on the row `parent`; `isAllowed` is whether it
 * holds.
 */
function composeListHistory(collection: Collection, rule: string | undefined): string {
  const history = historyTableOf(collection);
  const live = `select t.* from ${tableOf(collection)} t where t.id = $1::text`;
  const last = `select * from ${history} where record_id = $1::text and not exists (${live}) order by at desc, _revision desc limit 1`;
  const rows = `select * from ${history} where record_id = $1::text order by at desc, _revision desc limit $3::bigint offset $4::bigint`;
  const versions = `select row_to_json(e.*)::text as json
    from (${rows}) k join lateral (${selectSnapshots(collection, 'select k.*')}) n on true
    cross join lateral (select ${selectList(recordColumns(collection), 'n')}) r
    cross join lateral (
      select k.id, k.op, row_to_json(r.*) as snapshot, k.actor_id, k.actor_type, k.at, ${versionOf('n')} as version
    ) e order by k.at desc, k._revision desc`;
  return `with parent as materialized (
  select ${selectLikeSnapshot(collection, 't')} from (${live}) t
  union all
  ${selectSnapshots(collection, last)}
), verdict as materialized (
  select ${rule === undefined ? 'true' : `(${rule}) is true`} as allowed from parent
)
select v.allowed as "isAllowed", case when v.allowed then (
  select '{"data":{"data":[' || ${joinedWithinLimit(versions, '$5::bigint')} || '],"page":' || $2::bigint || ',"perPage":' || $3::bigint || ',"totalItems":' || c.total
    || ',"totalPages":' || (c.total + $3::bigint - 1) / $3::bigint || '}}'
  from (select count(*) as total from ${history} where record_id = $1::text) c
) end as body
from verdict v`;
}
