import type { Collection } from '@recordbus/schema';
import { validationFailed } from '@recordbus/shared/errors';
import { hasAccounts } from '../../accounts/new-account.ts';
import type { Body } from './import-row.ts';

/** A PHC string of argon2id, as other products store passwords. */
const argon2id = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/;

/** The limits of a hash. Until it is replaced, every sign-in costs this much. */
const most = { memoryKiB: 1_048_576, time: 20, lanes: 16 };

const maxLength = 512;

/**
 * Removes the hash of a password from a body. A new account stores it unchanged. Other passwords stay in the body and
 * are hashed. Throws 422 for a hash that costs too much.
 */
export function takeHash(
  collection: Collection,
  body: Body,
): { readonly body: Body; readonly hash: string | undefined } {
  const { password, ...rest } = body;
  if (!hasAccounts(collection) || password === undefined) return { body, hash: undefined };
  // An empty cell: an account without a password.
  if (password === null) return { body: rest, hash: undefined };
  if (typeof password !== 'string' || password.length > maxLength) return { body, hash: undefined };
  const [, memory, time, lanes] = argon2id.exec(password) ?? [];
  if (memory === undefined) return { body, hash: undefined };
  if (Number(memory) > most.memoryKiB || Number(time) > most.time || Number(lanes) > most.lanes)
    throw validationFailed({ password: 'is a hash that costs too much to check' });
  return { body: rest, hash: password };
}
