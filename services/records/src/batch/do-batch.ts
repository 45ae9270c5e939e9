import { type KeepAnswer, type Reply, rawJson } from '@recordbus/http';
import type { AnnouncedFile } from '../files/announced-files.ts';
import type { ServedCollections } from '../record/served-collections.ts';
import type { RunWrite } from '../write/write-unit.ts';
import type { Operation } from './operation.ts';
import { planBatch, requestOf, type Uploads } from './plan-batch.ts';
import type { BatchInput } from './ready-operation.ts';
import { type BatchRules, batchBudgetMs, isRelaxedBatch, modeOfBatch, runBatch } from './run-batch.ts';

/** What a batch depends on. */
export interface BatchDeps extends Omit<BatchRules, 'collections'> {
  readonly collections: ServedCollections;
  readonly write: RunWrite;
}

interface BatchRequest {
  readonly operations: readonly Operation[];
  readonly uploads: Uploads;
  /** The uploads' announced files. */
  readonly announced: readonly AnnouncedFile[];
  readonly input: BatchInput & { readonly keepAnswer?: KeepAnswer };
}

/** Does all operations in a batch or none. Throws the first refused operation's refusal. */
export async function doBatch(
  { operations, uploads, announced, input }: BatchRequest,
  deps: BatchDeps,
): Promise<Reply> {
  const deadlineMs = performance.now() + batchBudgetMs;
  const requests = operations.map((operation) => requestOf(operation, input.context.principal));
  return deps.collections.serveAll(requests, async (admitted) => {
    const plan = await planBatch(operations, admitted, uploads);
    if (plan.refusal && plan.operations.length === 0) throw plan.refusal;
    let isRepeated = false;
    const options = {
      mode: modeOfBatch(plan, deps),
      isRelaxed: isRelaxedBatch(plan, deps),
      upload: { announced },
      keepAnswer: input.keepAnswer,
    };
    return deps.write(options, async (unit) => {
      const attempt = { plan, input, deadlineMs, isRepeated };
      isRepeated = true;
      return rawJson(200, await runBatch(unit, attempt, deps));
    });
  });
}
