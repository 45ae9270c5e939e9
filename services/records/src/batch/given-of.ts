import { versionsOfIfMatch } from '@recordbus/http';
import { type Origin, originOf, textOfPlace } from '@recordbus/journal';
import type { GivenRows } from './given-rows.ts';
import type { Operation } from './operation.ts';
import type { ReadyOperation } from './ready-operation.ts';

type Equal = readonly [ReadyOperation, ...ReadyOperation[]];

/** The values, in addition to the fields', for a statement with several operations on existing records. */
export const givenOf = (ready: Equal): Origin & Omit<GivenRows, 'columns'> => ({
  ...placesOf(ready),
  ids: ready.map(({ id = '' }) => id),
  versions: ready.map(({ operation }) => versionsOfIfMatch(operation.ifMatch)?.[0] ?? null),
});

/** Several operations' origin, and their places in the batch; null for operations outside one. */
export const placesOf = (ready: Equal): Origin & Pick<GivenRows, 'batches'> => ({
  ...originOf(ready[0].call),
  batches: ready.map(({ call }) => (call.batch ? textOfPlace(call.batch) : null)),
});

/** Whether the operation admits one version, or any. */
export function hasOneVersion({ ifMatch }: Operation): boolean {
  const versions = versionsOfIfMatch(ifMatch);
  return versions === undefined || versions.length === 1;
}
