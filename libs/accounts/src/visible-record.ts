import type { Query } from '@recordbus/database';
import type { QuerySchema } from '@recordbus/query';
import type { Collection, FieldEncryption } from '@recordbus/schema';
import { findRefusedFields } from './refused-fields.ts';
import type { User } from './user.ts';

interface VisibleDeps {
  readonly encryption: FieldEncryption;
  readonly schema: QuerySchema;
}

/** Returns a user's record as the user may view it (fields §5.3), decrypted. */
export async function visibleRecord(
  query: Query,
  { encryption, schema }: VisibleDeps,
  collection: Collection,
  user: User,
): Promise<Readonly<Record<string, unknown>>> {
  const refused = await findRefusedFields(query, 'view', collection, user, schema);
  const record = Object.fromEntries(Object.entries(user.record).filter(([name]) => !refused.has(name)));
  await encryption.decryptRecord(collection, record);
  return record;
}
