import { createProblems } from '@recordbus/schema';
import { readItems } from '../schema/read-items.ts';
import { type SnapshotBody, type SnapshotCollection, snapshotCollection } from './snapshot-document.ts';

/** A snapshot with checked collections, and how to apply it. */
export interface SnapshotToApply extends Pick<SnapshotBody, 'mode'> {
  readonly collections: readonly SnapshotCollection[];
}

/** Checks a snapshot's collections. Throws 422 that names what is wrong. */
export async function readSnapshot({ snapshot, mode }: SnapshotBody): Promise<SnapshotToApply> {
  const problems = createProblems();
  const collections = await readItems(snapshotCollection, {
    given: snapshot.collections,
    placeOf: (_, position) => `snapshot.collections.${position}`,
    problems,
  });
  problems.throwIfAny();
  return { mode, collections };
}
