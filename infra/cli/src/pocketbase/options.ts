import type { TargetOptions } from '../api/target-options.ts';

/** What `import pocketbase` was asked for. */
export interface ImportOptions extends TargetOptions {
  readonly dryRun?: boolean;
  readonly report?: string;
  readonly only?: readonly string[];
  readonly map?: string;
  /** Where PocketBase's files are. */
  readonly files?: 'copy' | 's3';
  /** The environment variable with the key of PocketBase's settings. */
  readonly encryptionEnv: string;
  /** Whether views are tried; the default. */
  readonly views?: 'try' | 'skip';
  /** Whether users stay signed in; the default. */
  readonly sessions?: 'keep' | 'end';
  /** Whether superusers become admins; the default. */
  readonly superusers?: 'take' | 'skip';
  readonly events?: boolean;
  readonly state?: string;
  /** Whether there must be notes of an earlier run. */
  readonly resume?: boolean;
}
