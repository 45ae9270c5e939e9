import type { Database } from '@recordbus/database';
import { loadCollections } from '@recordbus/schema';
import { describeIssues } from '@recordbus/shared/describe-issues';
import { validationFailed } from '@recordbus/shared/errors';

import type { Author } from '../audit/author.ts';
import {
  createSchemaChanges,
  type SchemaChange,
  type SchemaChanges,
  type SchemaChangesDeps,
} from '../collections/schema-changes.ts';
import { type Applied, applySnapshot } from './apply-snapshot.ts';
import { snapshotToApply, takeSnapshot } from './snapshot-document.ts';

/** The snapshot of the collections as they are now. */
export const exportSnapshot = async ({ read }: Pick<Database, 'read'>, nowSec: number) =>
  takeSnapshot((await loadCollections(read)).collections, nowSec);

/**
 * Applies a document that nobody has read yet; a dry run takes everything back at the end. Throws 422 naming what is
 * wrong, and what `applySnapshot` throws.
 */
export async function applySnapshotDocument(
  deps: SchemaChangesDeps,
  given: { readonly snapshot: unknown; readonly mode: string },
  nowSec: number,
  author: Author,
  isDryRun = false,
): Promise<Applied> {
  const read = snapshotToApply.safeParse(given);
  if (!read.success) throw validationFailed(describeIssues(read.error, given));
  const changes = createSchemaChanges(deps);
  return applySnapshot(isDryRun ? undone(changes) : changes, read.data, nowSec, author);
}

/** Changes that are made and taken back: what they answer is what they would have done. */
const undone = (changes: SchemaChanges): SchemaChanges => ({
  async make<T>(work: (change: SchemaChange) => Promise<T>): Promise<T> {
    const made = changes.make(async (change) => {
      throw new Undone(await work(change));
    });
    return made.catch((error) => {
      if (error instanceof Undone) return error.result;
      throw error;
    });
  },
});

/** Carries the result of a change past the transaction that it ends. */
class Undone<T> extends Error {
  readonly result: T;

  constructor(result: T) {
    super('taken back');
    this.result = result;
  }
}
