import { hasAccounts } from '@recordbus/accounts';
import type { Query } from '@recordbus/database';
import { archivePlace } from './archive-place.ts';
import { type ErasureCounts, noCounts } from './erasure.ts';
import { eventPlaces } from './event-places.ts';
import { logPlaces } from './log-places.ts';
import type { Cleaned, ErasedPart, Place } from './place.ts';

/** All places, in the order in which they are cleaned. */
export const places: readonly Place[] = [...logPlaces, ...eventPlaces, archivePlace];

/** Cleans one place until nothing is left of the part. `inTransaction` commits each statement's rows with their counts. */
export async function cleanPlace(
  place: Place,
  part: ErasedPart,
  inTransaction: (work: (query: Query) => Promise<Cleaned>) => Promise<void>,
): Promise<void> {
  if (place.isOfAccounts && part.collection && !hasAccounts(part.collection)) return;
  let isLeft = true;
  while (isLeft)
    await inTransaction(async (query) => {
      const done = await place.clean(query, part);
      isLeft = done.isLeft === true;
      return done;
    });
}

/** Adds counts. */
export const addCounts = (before: ErasureCounts = noCounts, more: Partial<ErasureCounts>): ErasureCounts => ({
  records: before.records + (more.records ?? 0),
  history: before.history + (more.history ?? 0),
  files: before.files + (more.files ?? 0),
  previews: before.previews + (more.previews ?? 0),
  deliveries: before.deliveries + (more.deliveries ?? 0),
  events: before.events + (more.events ?? 0),
  requests: before.requests + (more.requests ?? 0),
  audit: before.audit + (more.audit ?? 0),
  mails: before.mails + (more.mails ?? 0),
});
