import type { Statement } from '@recordbus/database';
import { AppError, notFound } from '@recordbus/errors';
import { createNamedParameters } from '@recordbus/query';
import { type Collection, type Rule, type RuleName, tableOf, withDefaults } from '@recordbus/schema';
import { findRecord } from '../read/get-record.ts';
import { listRecords } from '../read/list-records.ts';
import type { RecordReads } from '../read/record-reads.ts';
import { isRecordId } from '../record/record-id.ts';
import type { ServedCollections } from '../record/served-collections.ts';
import { ruleRefusal } from '../rules/authorize.ts';
import { compileRule } from '../rules/compile-rule.ts';
import { refuseClosedFields, writeOf } from '../rules/field-rules.ts';
import { type Call, needsRuleCheck } from '../rules/rule-context.ts';
import { readNew } from '../write/create-record.ts';
import { composeCreateTrial } from '../write/create-sql.ts';
import type { WriteRules } from '../write/write-rules.ts';

/** A rule to try in place of the collection's own. */
export interface Trial {
  readonly action: RuleName;
  readonly rule: Rule;
  /** The record for a view, an update or a delete. */
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** How the caller's request would be answered. */
export interface Verdict {
  readonly admitted: boolean;
  /** The refusal's message. */
  readonly reason: string | null;
  /** The records that the caller would read: a list's first ones, or the single record. */
  readonly records: readonly unknown[] | null;
  /** How many records the list has. */
  readonly total: number | null;
}

interface TrialDeps extends Pick<WriteRules, 'passwords' | 'encryption'> {
  readonly reads: RecordReads;
  readonly collections: Pick<ServedCollections, 'requireAction'>;
}

/** How many records a trial shows at most. */
const shownRecords = 10;

/**
 * Tries a rule for a caller, with the code that answers requests, and writes nothing. Hooks do not run. Throws 404 for
 * an unknown record, and 422 for an invalid body.
 */
export async function tryRule(deps: TrialDeps, saved: Collection, trial: Trial, call: Call): Promise<Verdict> {
  const { action, rule } = trial;
  const collection = { ...saved, rules: { ...saved.rules, [action]: rule } };
  const reads = unprepared(deps.reads);
  try {
    deps.collections.requireAction(collection, action, call.principal);
    if (action === 'list') return await tryList({ ...deps, reads }, collection, call);
    if (action === 'view') return await tryView({ ...deps, reads }, collection, trial.id, call);
    if (action === 'create') await tryCreate({ ...deps, reads }, collection, trial.body, call);
    else await tryStored({ ...deps, reads }, collection, trial, call);
    return { admitted: true, reason: null, records: null, total: null };
  } catch (error) {
    if (!(error instanceof AppError) || (error.status !== 403 && error.status !== 401)) throw error;
    return { admitted: false, reason: error.message, records: null, total: null };
  }
}

async function tryList({ reads, encryption }: TrialDeps, collection: Collection, call: Call): Promise<Verdict> {
  const request = { page: 1, perPage: shownRecords, skipTotal: false };
  const { data, totalItems } = JSON.parse(await listRecords(reads, collection, request, call, encryption));
  return { admitted: totalItems > 0, reason: null, records: data, total: totalItems };
}

async function tryView(
  { reads, encryption }: TrialDeps,
  collection: Collection,
  id: string,
  call: Call,
): Promise<Verdict> {
  const found = await findRecord(reads, collection, { id }, call, encryption);
  if (!found) throw notFound('record');
  return { admitted: true, reason: null, records: [JSON.parse(found.body).data], total: null };
}

async function tryCreate(deps: TrialDeps, collection: Collection, sent: Trial['body'], call: Call): Promise<void> {
  refuseClosedFields(sent, writeOf(collection, call), call);
  const values = await readNew(collection, { body: withDefaults(collection, sent, call) }, call, deps);
  if (!needsRuleCheck(collection, 'create', call)) return;
  const { text, valuesFrom } = composeCreateTrial(collection, call);
  const [row] = await deps.reads.shaped<{ isAllowed: boolean }>({ text, values: valuesFrom(values, call.request) });
  if (!row?.isAllowed) throw ruleRefusal(call.principal);
}

/** Tries an update's or a delete's rule on the stored record (rules §3.1). */
async function tryStored(
  { reads }: TrialDeps,
  collection: Collection,
  { action, id, body }: Trial,
  call: Call,
): Promise<void> {
  if (action === 'update') refuseClosedFields(body, writeOf(collection, call), call);
  const parameters = createNamedParameters<{ readonly id: string }>();
  const isChecked = needsRuleCheck(collection, action, call);
  const rule = isChecked
    ? `(${compileRule(collection, action, call, { row: 't', stored: 't', parameters })}) is true`
    : 'true';
  const text = `select ${rule} as "isAllowed" from ${tableOf(collection)} t where t.id = ${parameters.named('id', 'text')}`;
  const [row] = isRecordId(id)
    ? await reads.shaped<{ isAllowed: boolean }>({ text, values: parameters.valuesFrom({ id }, call.request) })
    : [];
  if (!row) throw notFound('record');
  if (!row.isAllowed) throw ruleRefusal(call.principal);
}

/** Reads whose statements are not prepared, since each trial has its own text. */
function unprepared(reads: RecordReads): RecordReads {
  const bare = ({ text, values }: Statement): Statement => ({ text, values });
  return {
    ...reads,
    get: (statement) => reads.get(bare(statement)),
    shaped: (statement) => reads.shaped(bare(statement)),
    together() {
      const query = reads.together();
      return (statement) => query(bare(statement));
    },
    page: (name, statementFor) => reads.page(name, (maxBytes) => bare(statementFor(maxBytes))),
    isCommitted: false,
  };
}
