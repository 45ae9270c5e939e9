import type { TargetOptions } from '../api/target-options.ts';

/** The export takes the route's parameters (export §1.2). */
export interface ExportOptions extends TargetOptions {
  readonly format?: string;
  readonly filter?: string;
  readonly sort?: string;
  readonly fields?: string;
  readonly expand?: string;
  readonly raw?: boolean;
  readonly bom?: boolean;
}

/** The import takes the route's parameters (import §1.3). */
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
  /** The file for refused rows. */
  readonly refused?: string;
  /** Whether to cancel the job rather than continue it. */
  readonly cancel?: boolean;
}
