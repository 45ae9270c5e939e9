import { AppError } from '@recordbus/errors';
import type { WriteUnit } from '../write/write-unit.ts';
import { concernsAll } from './batch-refusal.ts';
import { equalCreates } from './equal-creates.ts';
import { equalDeletes } from './equal-deletes.ts';
import type { EqualOperations } from './equal-operations.ts';
import { equalUpdates } from './equal-updates.ts';
import { equalUpserts } from './equal-upserts.ts';
import type { OperationVerb } from './operation.ts';
import type { PlannedOperation } from './plan-batch.ts';
import type { ReadyOperation } from './ready-operation.ts';
import type { Results } from './results.ts';
import type { OperationRules } from './run-operation.ts';

const equals: Readonly<Record<OperationVerb, EqualOperations>> = {
  create: equalCreates,
  update: equalUpdates,
  upsert: equalUpserts,
  delete: equalDeletes,
};

/** Fewer operations are done alone, since a statement with several also needs a savepoint and its release. */
const minWidth = 4;

/** How many operations the first statement may have, and later ones, when an answer's size is known. */
const [firstWidth, maxWidth] = [32, 250];

/** UTF-16 code units in a statement's answer. */
const maxAnswerUnits = 2 ** 21;

/** How many bytes a statement's operations may have: the driver converts their values in one piece of work. */
const maxGivenBytes = 2 ** 18;

interface Turn {
  readonly operations: readonly PlannedOperation[];
  readonly results: Results;
  readonly ready: (planned: PlannedOperation) => ReadyOperation;
}

/**
 * Does the next operations with one statement if they are equal and none can see what another one writes. Returns how
 * many must be done alone instead, which may be 0: those without an equal next one, and those in a failed statement, to
 * find the first operation that is refused.
 */
export async function runTogether(unit: WriteUnit, turn: Turn, rules: OperationRules): Promise<number> {
  const equal = equals[turn.operations[turn.results.count]?.operation.op ?? 'create'];
  const found = findEqual(equal, turn, rules);
  const [first, ...others] = found;
  if (!first || found.length < minWidth) return Math.max(1, found.length);
  const savepoint = (verb: string) => unit.query({ text: `${verb} together`, values: [] });
  await savepoint('savepoint');
  try {
    const done = await equal.run(unit, [first, ...others], rules);
    if (done) {
      await savepoint('release savepoint');
      for (const result of done) turn.results.add(result);
      return 0;
    }
  } catch (error) {
    if (concernsAll(error)) throw error;
  }
  await savepoint('rollback to savepoint');
  return found.length;
}

/** The next operations that are equal, write different records, and do not refer to each other. */
function findEqual(
  equal: EqualOperations,
  { operations, results, ready }: Turn,
  rules: OperationRules,
): ReadyOperation[] {
  const found: ReadyOperation[] = [];
  const ids = new Set<string>();
  const { count } = results;
  const width = widthAfter(results);
  let kind: string | undefined;
  let bytes = 0;
  for (let index = count; index < operations.length && found.length < width && bytes < maxGivenBytes; index += 1) {
    const planned = operations[index];
    if (!planned || !isLike(planned, operations[count]) || [...planned.uses].some((used) => used >= count)) break;
    const next = findReady(planned, ready);
    const kindOfNext = next && equal.kindOf(next, rules);
    if (!next || next.bytes > maxGivenBytes || kindOfNext === undefined || (found.length > 0 && kindOfNext !== kind))
      break;
    if (next.id !== undefined && ids.has(next.id)) break;
    if (next.id !== undefined) ids.add(next.id);
    kind = kindOfNext;
    bytes += next.bytes;
    found.push(next);
  }
  return found;
}

const isLike = (planned: PlannedOperation, first: PlannedOperation | undefined): boolean =>
  planned.collection === first?.collection && planned.operation.op === first.operation.op;

/** Undefined for an operation with an invalid reference. It is refused when it is done alone. */
function findReady(planned: PlannedOperation, ready: Turn['ready']): ReadyOperation | undefined {
  try {
    return ready(planned);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** How many operations the next statement may have, estimated from earlier answers' sizes. */
function widthAfter({ count, units }: Results): number {
  if (count === 0) return firstWidth;
  return Math.max(1, Math.min(maxWidth, Math.floor(maxAnswerUnits / (units / count + 1))));
}
