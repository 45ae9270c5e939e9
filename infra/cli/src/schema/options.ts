import type { TargetOptions } from '../api/target-options.ts';

export interface PlanOptions extends TargetOptions {
  /** The file of the plan; none is written without it. */
  readonly out?: string;
}

export interface ApplyOptions extends TargetOptions {
  readonly allowDrop: readonly string[];
}
