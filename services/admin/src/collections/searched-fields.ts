import { type Collection, isText, type Problems } from '@recordbus/schema';
import { compareFields } from '../ddl/compare-fields.ts';

/** Adds to `problems` each field that becomes a list although a `trigram` index searches its text. */
export function refuseSearchedLists(before: Collection, after: Collection, problems: Problems): void {
  for (const { old, now } of compareFields(before, after).kept) {
    if (!isText(old) || isText(now)) continue;
    const names = (after.indexes ?? [])
      .filter(({ type, columns }) => type === 'trigram' && columns.includes(now.id))
      .map(({ name }) => name);
    if (names.length > 0)
      problems.add(
        `fields.${now.name}.options.multiple`,
        `is not allowed for a field in the trigram index ${names.join(', ')}`,
      );
  }
}
