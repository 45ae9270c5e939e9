import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { type Algorithm, hash, hashRaw, parseOptions, verify } from '@node-rs/argon2';
import { createGate } from '@recordbus/shared/gate';

/** OWASP's minimum for argon2id (auth §2.2). One lane, because each further lane is a thread per hash. */
const parameters = { algorithm: 2 satisfies Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The threads of libuv, which hashes share with file access and name lookups. */
const threads = Number(process.env.UV_THREADPOOL_SIZE) || 4;

/**
 * Each hash takes a core and a thread. The gate keeps one core for the event loop and a quarter of the threads for files, so
 * a flood of logins queues and slows only itself.
 */
const gate = createGate({
  width: Math.max(Math.min(availableParallelism() - 1, Math.floor((threads * 3) / 4)), 1),
  maxWaiting: 1000,
  refusal: 'too many passwords are being checked',
});

/** Hashes a password with argon2id; returns the PHC string. Throws 503 when too many hashes are waiting. */
export const hashPassword = (password: string): Promise<string> => gate.run(() => hash(password, parameters));

/**
 * Checks a password against its hash. Without a hash (unknown user) it takes the same time and returns false.
 * Throws 503 when too many hashes are waiting.
 */
export const verifyPassword = (passwordHash: string | undefined, password: string): Promise<boolean> =>
  gate.run(() => verify(passwordHash ?? unmatchableHash, password));

/**
 * Returns the argon2id digest of a short secret in hex. It is the same for the same salt, so it can be looked up, and
 * is as slow to guess as a password. Throws 503 when too many hashes are waiting.
 */
export const slowDigest = (secret: string, salt: Uint8Array): Promise<string> =>
  gate.run(async () => (await hashRaw(secret, { ...parameters, salt })).toString('hex'));

/** Whether the hash has other parameters than the current ones. A successful login then stores a new hash (auth §2.2). */
export function needsRehash(passwordHash: string): boolean {
  const { algorithm, memoryCost, timeCost, parallelism } = parseOptions(passwordHash);
  return (
    algorithm !== parameters.algorithm ||
    memoryCost !== parameters.memoryCost ||
    timeCost !== parameters.timeCost ||
    parallelism !== parameters.parallelism
  );
}

const base64 = (byteCount: number) => randomBytes(byteCount).toString('base64').replaceAll('=', '');

/** A hash that no password matches, with the current parameters, so that an unknown user costs a whole hash. */
const unmatchableHash = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$${base64(16)}$${base64(32)}`;
