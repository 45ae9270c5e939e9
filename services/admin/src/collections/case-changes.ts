import { type Collection, isComparedAlike, type Problems } from '@recordbus/schema';
import { compareFields } from '../ddl/compare-fields.ts';

/** Adds to `problems` each field that would compare values in another way than a unique index that stays (fields §2.6). */
export function refuseCaseChanges(before: Collection, after: Collection, problems: Problems): void {
  const kept = (after.indexes ?? []).filter(({ id, unique }) => unique && before.indexes?.some((old) => old.id === id));
  for (const { old, now } of compareFields(before, after).kept) {
    const names = kept.filter(({ columns }) => columns.includes(now.id)).map(({ name }) => name);
    if (names.length > 0 && !isComparedAlike(old, now))
      problems.add(
        `fields.${now.name}.options.ignoreCase`,
        `cannot change while it is in the index ${names.join(', ')}`,
      );
  }
}
