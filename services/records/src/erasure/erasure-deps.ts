import type { Bus } from '@recordbus/bus';
import type { Database, Query } from '@recordbus/database';
import type { QuerySchema } from '@recordbus/query';
import type { DeleteRules } from '../delete/deletion.ts';
import type { Removals } from '../files/removals.ts';
import type { RunWrite } from '../write/write-unit.ts';
import type { DeleteForGoodDeps } from './delete-for-good.ts';
import type { ErasureJob } from './erasure.ts';
import type { BackupSchedule } from './kept-backups.ts';

/** What erasures depend on. */
export interface ErasureDeps extends DeleteForGoodDeps {
  readonly rules: DeleteRules;
  readonly schema: QuerySchema;
  /** Connections for background work. */
  readonly database: Pick<Database, 'query' | 'transaction'>;
  /** Writes on the background work's connections. */
  readonly write: RunWrite;
  readonly bus: Pick<Bus, 'notify'>;
  readonly removals: Pick<Removals, 'wake'>;
  /** The raw bytes of the token secret, with which kept answers are encrypted. */
  readonly secret: Uint8Array;
  hashOf(recordId: string): string;
  /** Deletes the mails that came in from addresses (in lower case). Returns how many there were. */
  eraseMailsFrom(query: Query, addresses: readonly string[]): Promise<number>;
  /** Reads the collections again. */
  reload(): Promise<void>;
  schedule(): BackupSchedule;
  /** Erases the records whose time is over, for a retention's job. Undefined if the process ends. */
  eraseDue(deps: ErasureDeps, job: ErasureJob, ending: AbortSignal): Promise<ErasureJob | undefined>;
}
