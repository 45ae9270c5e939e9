import type { CommonOptions } from '../run-command.ts';

/** The stack that a command uses. */
export interface TargetOptions extends CommonOptions {
  readonly url?: string;
  readonly key?: string;
}

export interface PlanOptions extends TargetOptions {
  /** The file of the plan; none is written without it. */
  readonly out?: string;
}

export interface ApplyOptions extends TargetOptions {
  readonly allowDrop: readonly string[];
}
