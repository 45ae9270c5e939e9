import { answerTooLarge } from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import { isRelaxedDelete, modeOfDelete } from '../delete/delete-mode.ts';
import { callOf } from '../rules/rule-context.ts';
import { isRelaxed } from '../write/is-relaxed.ts';
import { modeOf } from '../write/write-hooks.ts';
import { type WriteMode, widestMode } from '../write/write-mode.ts';
import type { WriteUnit } from '../write/write-unit.ts';
import { refusalAt, throwAt } from './batch-refusal.ts';
import { countGivenBytes } from './given-bytes.ts';
import { lockTargets } from './lock-targets.ts';
import type { BatchPlan, PlannedOperation } from './plan-batch.ts';
import { type BatchInput, readyOperation } from './ready-operation.ts';
import { createResults, type Results } from './results.ts';
import { type OperationRules, runOperation } from './run-operation.ts';
import { runTogether } from './run-together.ts';

/** How long a batch may take, in milliseconds, its repetitions included: as long as a single write's statement. */
export const batchBudgetMs = 15_000;

/** What a batch depends on. */
export interface BatchRules extends OperationRules {
  /** How many bytes the answer may have. */
  maxAnswerBytes(): number;
}

/** A batch's mode: one transaction, with hooks if one of its writes has some. */
export const modeOfBatch = ({ operations }: BatchPlan, rules: OperationRules): WriteMode =>
  widestMode('transaction', ...operations.map((planned) => modeOfOperation(planned, rules)));

/** Whether a batch need not wait for the disk: it writes only relaxed collections. */
export const isRelaxedBatch = ({ operations }: BatchPlan, rules: OperationRules): boolean =>
  operations.every((planned) => isRelaxedOperation(planned, rules));

function isRelaxedOperation({ operation: { op }, collection }: PlannedOperation, rules: OperationRules): boolean {
  switch (op) {
    case 'create':
    case 'update':
    case 'upsert':
      return isRelaxed(collection);
    case 'delete':
      return isRelaxedDelete(collection, rules);
  }
}

function modeOfOperation({ operation: { op }, collection }: PlannedOperation, rules: OperationRules): WriteMode {
  if (op === 'delete') return modeOfDelete(collection, rules);
  if (op !== 'upsert') return modeOf(rules.hooks, collection, op);
  return widestMode(modeOf(rules.hooks, collection, 'update'), modeOf(rules.hooks, collection, 'create'));
}

/** An attempt at a batch. */
interface Attempt {
  readonly plan: BatchPlan;
  readonly input: BatchInput;
  /** By `performance.now`. */
  readonly deadlineMs: number;
  /** Whether an earlier attempt lost against another transaction. */
  readonly isRepeated: boolean;
}

/**
 * Does a batch's operations one after the other. Equal ones are done together if the result is the same. The unit has
 * the mode that `modeOfBatch` returns. Returns the answer's body. Throws the first refused operation's refusal, with
 * its index.
 */
export async function runBatch(unit: WriteUnit, attempt: Attempt, rules: BatchRules): Promise<string> {
  const { plan, input, deadlineMs, isRepeated } = attempt;
  const { operations, refusal } = plan;
  const results = createResults();
  const given = countGivenBytes(operations.map(({ operation: { bytes } }) => bytes));
  await lockTargets(unit.query, operations, callOf('PATCH', input, rules), { isRepeated });
  while (results.count < operations.length) {
    refuseLate(operations[results.count], deadlineMs);
    const ready = (planned: PlannedOperation) => readyOperation(planned, plan, { results, given }, input, rules);
    const alone = await runTogether(unit, { operations, results, ready }, rules);
    for (const planned of operations.slice(results.count, results.count + alone)) {
      refuseLate(planned, deadlineMs);
      await runAlone(unit, planned, ready, results, rules);
      refuseLarge(results, rules);
    }
    refuseLarge(results, rules);
  }
  if (refusal) throw refusal;
  return results.toJson();
}

async function runAlone(
  unit: WriteUnit,
  planned: PlannedOperation,
  ready: (planned: PlannedOperation) => ReturnType<typeof readyOperation>,
  results: Results,
  rules: OperationRules,
): Promise<void> {
  try {
    results.add(await runOperation(unit, ready(planned), rules));
  } catch (error) {
    throwAt(planned.index, error);
  }
}

function refuseLate(next: PlannedOperation | undefined, deadlineMs: number): void {
  if (!next || performance.now() <= deadlineMs) return;
  const message = `the batch takes longer than ${batchBudgetMs / 1000} seconds; send fewer operations`;
  throw refusalAt(next.index, new AppError(422, 'too_expensive', message));
}

function refuseLarge({ units, count }: Results, { maxAnswerBytes }: BatchRules): void {
  if (units > maxAnswerBytes()) throw refusalAt(count - 1, answerTooLarge());
}
