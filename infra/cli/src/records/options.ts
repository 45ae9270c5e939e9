import type { TargetOptions } from '../api/target-options.ts';

/** The parameters of an export are those of its route (export §1.2). */
export interface ExportOptions extends TargetOptions {
  readonly format?: string;
  readonly filter?: string;
  readonly sort?: string;
  readonly fields?: string;
  readonly expand?: string;
  readonly raw?: boolean;
  readonly bom?: boolean;
}

/** The parameters of an import are those of its route (import §1.3). */
export interface ImportOptions extends TargetOptions {
  readonly format?: string;
  readonly mode?: string;
  readonly on?: string;
  readonly map?: string;
  readonly keep?: string;
  readonly dryRun?: boolean;
  readonly events?: string;
  readonly separator?: string;
  readonly null?: string;
  readonly encoding?: string;
  readonly dates?: string;
  /** The file of the refused rows. */
  readonly refused?: string;
  /** Whether to cancel the job instead of continuing it. */
  readonly cancel?: boolean;
}
