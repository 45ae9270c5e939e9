import type { WriteUnit } from '../write/write-unit.ts';
import type { ReadyOperation } from './ready-operation.ts';
import type { OperationResult } from './results.ts';
import type { OperationRules } from './run-operation.ts';

/** Operations of one verb that one statement can do. */
export interface EqualOperations {
  /** What equal operations have in common besides verb and collection; undefined for one that has to be done alone. */
  kindOf(ready: ReadyOperation, rules: OperationRules): string | undefined;
  /**
   * Does equal operations on different records. Returns their results in their order, or undefined when some were
   * refused; then the caller undoes the others.
   */
  run(
    unit: WriteUnit,
    ready: readonly [ReadyOperation, ...ReadyOperation[]],
    rules: OperationRules,
  ): Promise<readonly OperationResult[] | undefined>;
}
