import type { Database } from '@recordbus/database';
import { validationFailed } from '@recordbus/errors';
import { describeIssues } from '@recordbus/errors/describe-issues';
import { loadCollections } from '@recordbus/schema';

import type { Actor } from '../audit/actor.ts';
import { readonlyChanges } from '../schema/readonly-changes.ts';
import {
  createSchemaChanges,
  type SchemaChange,
  type SchemaChanges,
  type SchemaChangesDeps,
} from '../schema/schema-changes.ts';
import { type AppliedSnapshot, applySnapshot } from './apply-snapshot.ts';
import { readSnapshot } from './read-snapshot.ts';
import { snapshotBody, takeSnapshot } from './snapshot-document.ts';

/** Returns the current collections' snapshot. */
export const exportSnapshot = async ({ read }: Pick<Database, 'read'>, nowSec: number) =>
  takeSnapshot((await loadCollections(read)).collections, nowSec);

/**
 * Validates and applies a document. A dry run rolls everything back at the end. Throws 422 that names what is wrong,
 * and the errors of `applySnapshot`.
 */
export async function applySnapshotDocument(
  deps: SchemaChangesDeps,
  given: { readonly snapshot: unknown; readonly mode: string },
  nowSec: number,
  actor: Actor,
  { isDryRun = false, isReadonly = false } = {},
): Promise<AppliedSnapshot> {
  const read = snapshotBody.safeParse(given);
  if (!read.success) throw validationFailed(describeIssues(read.error, given));
  const changes = isReadonly && !isDryRun ? readonlyChanges : createSchemaChanges(deps);
  return applySnapshot(isDryRun ? rollingBack(changes) : changes, await readSnapshot(read.data), nowSec, actor);
}

/** Returns changes that run, return their result, and roll back. */
const rollingBack = (changes: SchemaChanges): SchemaChanges => ({
  async make<T>(work: (change: SchemaChange) => Promise<T>): Promise<T> {
    const made = changes.make(async (change) => {
      throw new RolledBack(await work(change));
    });
    return made.catch((error) => {
      if (error instanceof RolledBack) return error.result;
      throw error;
    });
  },
});

/** Rolls back the transaction in which it is thrown, and carries the result out. */
class RolledBack<T> extends Error {
  readonly result: T;

  constructor(result: T) {
    super('rolled back');
    this.result = result;
  }
}
