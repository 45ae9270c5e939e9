import type { TargetOptions } from '../api/target-options.ts';

export interface PlanOptions extends TargetOptions {
  /** The plan file; none is written without it. */
  readonly out?: string;
}

export interface ApplyOptions extends TargetOptions {
  readonly allowDrop: readonly string[];
}
