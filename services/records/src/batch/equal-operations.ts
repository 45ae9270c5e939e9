import type { WriteUnit } from '../write/write-unit.ts';
import type { ReadyOperation } from './ready-operation.ts';
import type { OperationResult } from './results.ts';
import type { OperationRules } from './run-operation.ts';

/** Operations with one verb that one statement can do. */
export interface EqualOperations {
  /**
   * An operation's kind within its verb and collection; undefined if it must be done alone. Equal operations have the
   * same kind.
   */
  kindOf(ready: ReadyOperation, rules: OperationRules): string | undefined;
  /**
   * Does equal operations on different records. Returns their results in order, or undefined if some were refused; then
   * the caller undoes the others.
   */
  run(
    unit: WriteUnit,
    ready: readonly [ReadyOperation, ...ReadyOperation[]],
    rules: OperationRules,
  ): Promise<readonly OperationResult[] | undefined>;
}
