import { newId } from '@recordbus/database';
import { AppError } from '@recordbus/errors';
import { inSlices } from '@recordbus/limits/time-slice';
import type { Principal } from '@recordbus/request/context';
import type { Collection, RuleName } from '@recordbus/schema';
import type { Upload } from '../files/upload-parts.ts';
import type { Admitted } from '../record/served-collections.ts';
import { operationRefused, refusalAt } from './batch-refusal.ts';
import type { Operation, OperationVerb } from './operation.ts';
import { type Reference, replaceReferences } from './reference.ts';

/** An operation's actions. At least one must be admitted. */
const actionsOf: Readonly<Record<OperationVerb, RuleName | readonly RuleName[]>> = {
  create: 'create',
  update: 'update',
  upsert: ['update', 'create'],
  delete: 'delete',
};

/** The request to admit for an operation. */
export const requestOf = ({ op, collection }: Operation, principal: Principal) => ({
  collection,
  action: actionsOf[op],
  principal,
});

/** The operations' uploads, by index. */
export type Uploads = ReadonlyMap<number, Upload>;

/** An operation that may be done. */
export interface PlannedOperation {
  readonly index: number;
  readonly operation: Operation;
  readonly collection: Collection;
  readonly upload: Upload | undefined;
  /** The operations to whose results it refers, by index. */
  readonly uses: ReadonlySet<number>;
}

/** A batch's operations, up to the first one that is refused beforehand. */
export interface BatchPlan {
  readonly id: string;
  /** How many operations there are. */
  readonly size: number;
  readonly operations: readonly PlannedOperation[];
  /** The refusal for the operation after them. */
  readonly refusal: AppError | undefined;
  /** Each name's index. */
  readonly names: ReadonlyMap<string, number>;
}

/** Plans a batch whose operations' collections were admitted. */
export async function planBatch(
  operations: readonly Operation[],
  { collections, refusal }: Admitted,
  uploads: Uploads,
): Promise<BatchPlan> {
  const names = new Map(operations.flatMap(({ as }, index) => (as === undefined ? [] : [[as, index]])));
  const planned: PlannedOperation[] = [];
  const plan = { id: newId(), size: operations.length, operations: planned, names };
  for await (const [index, operation] of inSlices(operations.entries())) {
    const collection = collections[index];
    if (!collection) return { ...plan, refusal: refusal && refusalAt(index, refusal) };
    try {
      const uses = usesOf(index, operation, collection, { operations, names });
      planned.push({ index, operation, collection, upload: uploads.get(index), uses });
    } catch (error) {
      if (error instanceof AppError) return { ...plan, refusal: error };
      throw error;
    }
  }
  return { ...plan, refusal: undefined };
}

/** The operations that one refers to. Throws 422 for an operation that is later, is unknown, or has no result. */
function usesOf(
  index: number,
  { id, data }: Operation,
  collection: Collection,
  { operations, names }: { readonly operations: readonly Operation[]; readonly names: ReadonlyMap<string, number> },
): ReadonlySet<number> {
  const uses = new Set<number>();
  const add = ({ name, path, text }: Reference, member: string): undefined => {
    const used = names.get(name);
    const refuse = (message: string) => operationRefused(index, { [member]: `refers to ${text}, ${message}` });
    if (used === undefined) throw refuse('and no operation has this name');
    if (used >= index) throw refuse('which is not an earlier operation');
    if (operations[used]?.op === 'delete' || path.length === 0) throw refuse('which no result has as a member');
    uses.add(used);
  };
  if (typeof id === 'object') add(id, 'id');
  replaceReferences(collection, data, add);
  return uses;
}
