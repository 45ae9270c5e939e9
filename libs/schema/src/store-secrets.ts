import { hashPassword } from '@recordbus/crypto';
import { PlainSecret } from './plain-secret.ts';
import type { ColumnValues } from './record-reader.ts';

/**
 * Puts in the place of each password what is stored of it, its Argon2id hash, made off the event loop. To be called
 * before the statement, so that no row is locked meanwhile. Throws 503 when too many hashes are waiting.
 */
export async function storeSecrets(values: ColumnValues): Promise<ColumnValues> {
  let stored: Map<string, unknown> | undefined;
  for (const [name, value] of values) {
    if (!(value instanceof PlainSecret)) continue;
    stored ??= new Map(values);
    stored.set(name, await hashPassword(value.text));
  }
  return stored ?? values;
}
