/** OWASP's minimum for argon2id (auth §2.2). One lane, because each further lane is a thread per hash. */
export const ownParameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** How many times the server's own hash cost a stored hash may cost. */
const maxTimesOwn = 4;

/** The most memory that is written for one hash, in KiB over all passes: the memory times the passes. */
const maxWork = maxTimesOwn * ownParameters.memoryCost * ownParameters.timeCost;
const maxLanes = 16;

/** bcrypt's most rounds, as a power of two. */
const maxBcryptCost = 14;
const minBcryptCost = 4;

/** The longest text that is taken for a hash, in characters. */
const maxLength = 512;

const argon2 =
  /^\$argon2(id|i|d)\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/;
const bcrypt = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;

/** Hashes in PHC's and crypt(3)'s forms, with any algorithm and cost. */
const anyHash = /^\$(?:argon2(?:id|i|d)|2[abxy]|scrypt|pbkdf2(?:-[a-z0-9]+)?|[156y]|P)\$[A-Za-z0-9+/.,=$-]{20,}$/;

/** Whether a text is a password hash by this or another system, even one that is never computed (import §4.3). */
export const isStoredHash = (text: string): boolean => text.length <= maxLength && anyHash.test(text);

/**
 * What a sign-in may do with a stored hash (auth §2.2):
 * - `own`: compute it; it has the server's parameters
 * - `foreign`: compute it, and replace it after the right password
 * - `weak`: compute it; the right password must be replaced by a reset
 * - `unusable`: never compute it: its cost is over the limit or its form unknown, so no password is right
 */
export type HashUse = 'own' | 'foreign' | 'weak' | 'unusable';

/** Returns what a sign-in may do with a stored hash. */
export function useOf(hash: string): HashUse {
  if (hash.length > maxLength) return 'unusable';
  const [, kind, memory, passes, lanes] = argon2.exec(hash) ?? [];
  if (kind !== undefined) {
    const work = Number(memory) * Number(passes);
    if (work === 0 || work > maxWork || Number(lanes) > maxLanes) return 'unusable';
    if (kind !== 'id') return 'weak';
    const own = ownParameters;
    const isOwn = [memory, passes, lanes].join() === [own.memoryCost, own.timeCost, own.parallelism].join();
    return isOwn ? 'own' : 'foreign';
  }
  const cost = Number(bcrypt.exec(hash)?.[1]);
  return cost >= minBcryptCost && cost <= maxBcryptCost ? 'foreign' : 'unusable';
}

/** Whether computing the hash takes more memory than an own one. */
export const takesMoreMemory = (hash: string): boolean =>
  Number(argon2.exec(hash)?.[2] ?? 0) > ownParameters.memoryCost;

/** Whether a usable hash is bcrypt's. */
export const isBcrypt = (hash: string): boolean => bcrypt.test(hash);
