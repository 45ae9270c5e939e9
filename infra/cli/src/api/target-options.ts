import type { CommonOptions } from '../run-command.ts';

/** The stack that a command uses through its API. */
export interface TargetOptions extends CommonOptions {
  readonly url?: string;
  readonly key?: string;
}
