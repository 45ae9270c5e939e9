/*
 * A record's version (records §8) is `updated_at`, the second when it was last written, and `_revision`, the number of
 * earlier writes in that second. No field name begins with an underscore.
 */

/** The current time in unix seconds, by the database's clock, which all replicas share. */
export const nowSec = 'floor(extract(epoch from now()))::bigint';

/** The `updated_at` in a row's next version. It stays when the clock stands still or goes back. */
export const nextUpdatedAt = (row: string, now = nowSec): string => `greatest(${now}, ${row}.updated_at)`;

/** The `_revision` in a row's next version: 0 for the first write in a second. */
export const nextRevision = (row: string, now = nowSec): string =>
  `case when ${row}.updated_at < ${now} then 0 else ${row}._revision + 1 end`;

/** Assignments that give a row its next version. */
export const versionAssignments = (row: string): string =>
  `updated_at = ${nextUpdatedAt(row)}, _revision = ${nextRevision(row)}`;

/** A row's version as text, as in its ETag. */
export const versionOf = (row: string): string => versionText(`${row}.updated_at`, `${row}._revision`);

/** A row's next version as text. A delete is a version too, though no row has it. */
export const nextVersionOf = (row: string): string => versionText(nextUpdatedAt(row), nextRevision(row));

const versionText = (updatedAt: string, revision: string): string =>
  `(${updatedAt} || case ${revision} when 0 then '' else '.' || ${revision} end)`;
