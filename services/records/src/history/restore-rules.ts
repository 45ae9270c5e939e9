import type { Query } from '@recordbus/database';
import type { Collection, FieldEncryption } from '@recordbus/schema';
import type { ServedCollections } from '../record/served-collections.ts';
import type { WriteHooks } from '../write/write-hooks.ts';

/** Returns which of a record's files no longer have bytes. */
export type FindLostFiles = (
  query: Query,
  collection: Collection,
  recordId: string,
  names: readonly string[],
) => Promise<ReadonlySet<string>>;

/** What restores check and apply. */
export interface RestoreRules {
  readonly findLostFiles: FindLostFiles;
  readonly encryption: FieldEncryption;
  readonly hooks: WriteHooks;
  readonly collections: Pick<ServedCollections, 'otherAuthCollections'>;
}
