import { describeIssues } from '@recordbus/shared/describe-issues';
import { validationFailed } from '@recordbus/shared/errors';
import { startSlice } from '@recordbus/shared/time-slice';
import { type SnapshotBody, type SnapshotCollection, snapshotCollection } from './snapshot-document.ts';

/** A snapshot with checked collections, and how to apply it. */
export interface SnapshotToApply extends Pick<SnapshotBody, 'mode'> {
  readonly collections: readonly SnapshotCollection[];
}

/** The check stops after this many problems. */
const enoughProblems = 1000;

/** Checks the collections of a snapshot one by one, in slices of time. Throws 422 that names what is wrong. */
export async function readSnapshot({ snapshot, mode }: SnapshotBody): Promise<SnapshotToApply> {
  const collections: SnapshotCollection[] = [];
  const problems = new Map<string, string>();
  const slice = startSlice();
  for (const [position, given] of snapshot.collections.entries()) {
    if (slice.isOver()) await slice.pause();
    const read = snapshotCollection.safeParse(given);
    if (read.success) collections.push(read.data);
    else
      for (const [path, message] of Object.entries(describeIssues(read.error, given)))
        problems.set(`snapshot.collections.${position}${path === 'body' ? '' : `.${path}`}`, message);
    if (problems.size >= enoughProblems) break;
  }
  if (problems.size > 0) throw validationFailed(Object.fromEntries(problems));
  return { mode, collections };
}
