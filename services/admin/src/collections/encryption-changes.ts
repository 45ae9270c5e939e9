import { rewriteStored } from '@recordbus/journal';
import { type Collection, isEncrypted, openStored, type Problems, sealStored } from '@recordbus/schema';
import { isUnique } from '../ddl/columns.ts';
import { compareFields } from '../ddl/compare-fields.ts';
import type { SchemaChange } from './schema-changes.ts';

/** Adds to `problems` what a field that becomes encrypted, or is so no more, can't be (contract §2). */
export function refuseEncryptionChanges(before: Collection, after: Collection, problems: Problems): void {
  for (const { old, now } of compareFields(before, after).kept) {
    const place = `fields.${now.name}.options`;
    const indexes = (after.indexes ?? []).filter(({ columns }) => columns.includes(now.id)).map(({ name }) => name);
    if (isEncrypted(now) && indexes.length > 0)
      problems.add(`${place}.encrypted`, `is not for a field that the index ${indexes.join(', ')} is over`);
    if (isEncrypted(old) && isUnique(now))
      problems.add(`${place}.unique`, 'is for a field that is not encrypted; decrypt it first');
  }
}

/**
 * Seals what is stored of the fields that are now encrypted, and opens that of those which are no more, history
 * included. Nobody writes to the table meanwhile; `planChecks` has seen that everything can be opened.
 */
export async function carryOutEncryptionChanges(
  { query, envelope }: Pick<SchemaChange, 'query' | 'envelope'>,
  before: Collection,
  after: Collection,
): Promise<void> {
  for (const { old, now } of compareFields(before, after).kept) {
    if (isEncrypted(old) === isEncrypted(now)) continue;
    const rewrite = isEncrypted(now) ? sealStored : openStored;
    await rewriteStored(query, after, now, (stored) => rewrite(envelope, now, stored));
  }
}
