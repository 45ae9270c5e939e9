import { rewriteStored } from '@recordbus/journal';
import { type Collection, decryptStored, encryptStored, isEncrypted, isUnique, type Problems } from '@recordbus/schema';
import { compareFields } from '../ddl/compare-fields.ts';
import type { SchemaChange } from '../schema/schema-changes.ts';

/** Adds to `problems` what conflicts with a field that becomes or stops being encrypted (fields §4.8). */
export function refuseEncryptionChanges(before: Collection, after: Collection, problems: Problems): void {
  for (const { old, now } of compareFields(before, after).kept) {
    const place = `fields.${now.name}.options`;
    const indexes = (after.indexes ?? []).filter(({ columns }) => columns.includes(now.id)).map(({ name }) => name);
    if (isEncrypted(now) && indexes.length > 0)
      problems.add(`${place}.encrypted`, `is not allowed for a field in the index ${indexes.join(', ')}`);
    if (isEncrypted(old) && isUnique(now))
      problems.add(`${place}.unique`, 'is not allowed for an encrypted field; decrypt it first');
  }
}

/**
 * Encrypts the stored values in fields that become encrypted, and decrypts those in fields that no longer are, history
 * included. The table is locked against writes, and `planChecks` has verified that every value can be decrypted.
 */
export async function applyEncryptionChanges(
  { query, cipher }: Pick<SchemaChange, 'query' | 'cipher'>,
  before: Collection,
  after: Collection,
): Promise<void> {
  for (const { old, now } of compareFields(before, after).kept) {
    if (isEncrypted(old) === isEncrypted(now)) continue;
    const rewrite = isEncrypted(now) ? encryptStored : decryptStored;
    await rewriteStored(query, after, now, (stored) => rewrite(cipher, now, stored));
  }
}
