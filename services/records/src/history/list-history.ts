import { historyTableOf, selectLikeSnapshot, selectSnapshots, versionOf } from '@recordbus/journal';
import { createNamedParameters, type FieldAccess, type NamedParameters } from '@recordbus/query';
import { type Collection, tableOf } from '@recordbus/schema';
import type { RecordReads } from '../read/record-reads.ts';
import { perCallerKind } from '../record/per-caller-kind.ts';
import { type Prepared, prepare } from '../record/prepared.ts';
import { isRecordId } from '../record/record-id.ts';
import { ruleRefusal } from '../rules/authorize.ts';
import { type CompileContext, compileCondition, compileRule } from '../rules/compile-rule.ts';
import { viewOf } from '../rules/field-rules.ts';
import { isRuled, type RuleContext } from '../rules/rule-context.ts';
import { joinedWithinLimit } from '../shape/answer-limit.ts';
import { everything, selectedColumns } from '../shape/field-selection.ts';
import { objectText, shownMembers } from '../shape/shown-members.ts';

/** A page of a record's history. */
interface HistoryPage {
  readonly id: string;
  /** 1-based. */
  readonly page: number;
  readonly perPage: number;
}

/** The values that each run of the statement gives. */
interface HistoryValues extends HistoryPage {
  readonly offset: number;
  /** How many bytes the answer may have. */
  readonly maxBytes: number;
}

const statementFor = perCallerKind(listStatement);

/**
 * Reads a page of a record's history, newest first, as the answer's whole body; undefined when neither the record nor a
 * history row exists. The view rule is checked on the record, or on a deleted one's last snapshot (history §3.2).
 * Throws 403 or 401 where it does not hold, and 422 for a page that takes too long or is too large.
 */
export async function listHistory(
  reads: RecordReads,
  collection: Collection,
  { id, page, perPage }: HistoryPage,
  ruleContext: RuleContext,
): Promise<string | undefined> {
  if (!isRecordId(id)) return undefined;
  const { valuesFrom, ...statement } = statementFor(collection, ruleContext);
  const offset = Math.min((page - 1) * perPage, Number.MAX_SAFE_INTEGER);
  const given = { id, page, perPage, offset, maxBytes: reads.maxAnswerBytes() };
  const values = valuesFrom(given, ruleContext.request);
  const [row] = await reads.shaped<{ isAllowed: boolean; body: string }>({ ...statement, values });
  if (row?.isAllowed === false) throw ruleRefusal(ruleContext.principal);
  return row?.body;
}

function listStatement(
  collection: Collection,
  context: CompileContext,
): Prepared & Pick<NamedParameters<HistoryValues>, 'valuesFrom'> {
  const parameters = createNamedParameters<HistoryValues>();
  const place = { row: 'parent', parameters };
  const rule = isRuled(collection, 'view', context) ? compileRule(collection, 'view', context, place) : undefined;
  const view = viewOf(collection, context);
  const rules = [...new Set(view.conditional.values())].map((text) => ({
    text,
    sql: compileCondition(text, collection, context, place),
  }));
  const text = composeListHistory(collection, { rule, view, rules }, parameters);
  return { ...prepare('history', text), valuesFrom: parameters.valuesFrom };
}

/** The rules that a record's history depends on. */
interface HistoryRules {
  /** The view rule as SQL; undefined when it is not checked. */
  readonly rule: string | undefined;
  readonly view: FieldAccess;
  /** The fields' conditional view rules, as text and SQL. */
  readonly rules: readonly { readonly text: string; readonly sql: string }[];
}

/**
 * The CTE `begin`, the first version of the record in `parent`. If a record was created by PUT with a deleted one's id,
 * a rule that admits callers to it does not show them the deleted one's versions.
 */
const beginOfRecord = (history: string, id: string): string => `, begin as materialized (
  select p.created_at as at, coalesce((
    select max(h._revision) from ${history} h where h.record_id = ${id} and h.at = p.created_at and h.op = 'create'
  ), 0) as revision from parent p
)`;

/**
 * Composes a list of history rows. It returns no row for an unknown record. The rules are conditions on the row
 * `parent`; `isAllowed` is whether the view rule holds.
 */
function composeListHistory(
  collection: Collection,
  { rule, view, rules }: HistoryRules,
  parameters: Pick<NamedParameters<HistoryValues>, 'named' | 'alias'>,
): string {
  const columns = selectedColumns(collection, everything, view);
  const verdictOf = (text: string) => `v.rule${rules.findIndex((one) => one.text === text)}`;
  const { from, conditional } = shownMembers({ columns, view }, 'n', parameters, verdictOf);
  const snapshot = conditional.length === 0 ? 'row_to_json(r.*)' : `(${objectText(conditional)})::json`;
  const id = parameters.named('id', 'text');
  const [page, perPage] = [parameters.named('page', 'bigint'), parameters.named('perPage', 'bigint')];
  const [offset, maxBytes] = [parameters.named('offset', 'bigint'), parameters.named('maxBytes', 'bigint')];
  const history = historyTableOf(collection);
  const live = `select t.* from ${tableOf(collection)} t where t.id = ${id}`;
  const last = `select * from ${history} where record_id = ${id} and not exists (${live}) order by at desc, _revision desc limit 1`;
  const isOpenToAll = rule === undefined && rules.length === 0;
  const shown = `record_id = ${id}${isOpenToAll ? '' : ' and (at, _revision) >= (select at, revision from begin)'}`;
  const rows = `select * from ${history} where ${shown} order by at desc, _revision desc limit ${perPage} offset ${offset}`;
  const versions = `select row_to_json(e.*)::text as value
    from (${rows}) k join lateral (${selectSnapshots(collection, 'select k.*')}) n on true
    ${from}
    cross join lateral (
      select k.id, k.op, ${snapshot} as snapshot, k.actor_id, k.actor_type, k.at, ${versionOf('n')} as version
    ) e order by k.at desc, k._revision desc`;
  return `with parent as materialized (
  select ${selectLikeSnapshot(collection, 't')} from (${live}) t
  union all
  ${selectSnapshots(collection, last)}
), verdict as materialized (
  select ${rule === undefined ? 'true' : `(${rule}) is true`} as allowed${rules.map(({ sql }, index) => `, (${sql}) is true as rule${index}`).join('')} from parent
)${isOpenToAll ? '' : beginOfRecord(history, id)}
select v.allowed as "isAllowed", case when v.allowed then (
  select '{"data":{"data":[' || ${joinedWithinLimit(versions, { maxBytes })} || '],"page":' || ${page} || ',"perPage":' || ${perPage} || ',"totalItems":' || c.total
    || ',"totalPages":' || (c.total + ${perPage} - 1) / ${perPage} || '}}'
  from (select count(*) as total from ${history} where ${shown}) c
) end as body
from verdict v`;
}
