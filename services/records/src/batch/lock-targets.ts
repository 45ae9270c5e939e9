import type { Query } from '@recordbus/database';
import { createNamedParameters, readsRequestBody } from '@recordbus/query';
import { type Collection, tableOf } from '@recordbus/schema';
import { type CallerSql, perCaller, type SentNames } from '../record/caller-sql.ts';
import { isRecordId } from '../record/record-id.ts';
import { passesRules, type RuleContext } from '../rules/rule-context.ts';
import { throwAt } from './batch-refusal.ts';
import type { OperationVerb } from './operation.ts';
import type { PlannedOperation } from './plan-batch.ts';

type Action = 'update' | 'delete';

/** What each verb does to the record that it names by id; undefined for a record that does not exist yet. */
const actionOf: Readonly<Record<OperationVerb, Action | undefined>> = {
  create: undefined,
  update: 'update',
  upsert: 'update',
  delete: 'delete',
};

/** Operations with one action on one collection's records, which they name by id. */
interface Targets {
  readonly collection: Collection;
  readonly action: Action;
  readonly ids: readonly string[];
  /** The first such operation's index. */
  readonly index: number;
}

/**
 * Locks the records that operations name by id, in the same order in all batches, so batches that write the same
 * records wait instead of deadlocking. Records for which the caller's rule does not hold stay unlocked, so callers
 * cannot lock records that they may not write. A rule that reads the body cannot be evaluated yet, so its records are
 * locked only by a batch that has lost against another one.
 */
export async function lockTargets(
  query: Query,
  operations: readonly PlannedOperation[],
  call: RuleContext,
  { isRepeated }: { readonly isRepeated: boolean },
): Promise<void> {
  const all = targetsOf(operations);
  // A single record is locked when it is written.
  if (all.reduce((sum, { ids }) => sum + ids.length, 0) < 2) return;
  for (const { collection, action, ids, index } of all) {
    const rule = collection.rules[action];
    const isPassed = passesRules(call, collection, action === 'delete' ? 'delete' : 'write');
    const isKnown = rule === null || isPassed || !readsRequestBody(rule);
    if (!isKnown && !isRepeated) continue;
    const caller = isKnown ? call : { ...call, passesRules: true as const };
    const { text, valuesFrom, checksRule } = locks[action](collection, { call: caller, sent: [] });
    await query({ text, checksRule, values: valuesFrom({ ids, sent: [] }, call.request) }).catch((error) =>
      throwAt(index, error),
    );
  }
}

function targetsOf(operations: readonly PlannedOperation[]): readonly Targets[] {
  const named = operations.flatMap(({ operation: { op, id }, collection, index }) => {
    const action = actionOf[op];
    return action === undefined || typeof id !== 'string' || !isRecordId(id) ? [] : [{ collection, action, id, index }];
  });
  return [...Map.groupBy(named, ({ collection, action }) => `${collection.id} ${action}`)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, [first, ...more]]) => {
      if (!first) return [];
      return [{ ...first, ids: [...new Set([first, ...more].map(({ id }) => id))] }];
    });
}

const locks = { update: locksFor('update'), delete: locksFor('delete') };

function locksFor(action: Action) {
  return perCaller(action, (collection: Collection, caller: CallerSql) => {
    const parameters = createNamedParameters<{ readonly ids: readonly string[] } & SentNames>();
    const { rule } = caller.verdictOn({ row: 't', stored: 't' }, parameters);
    const text = `select t.id from ${tableOf(collection)} t
where t.id = any(${parameters.named('ids', 'text[]')})${rule === undefined ? '' : ` and (${rule}) is true`} order by t.id for update`;
    return { text, valuesFrom: parameters.valuesFrom };
  });
}
