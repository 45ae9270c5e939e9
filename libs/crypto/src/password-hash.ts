import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { type Algorithm, hash, hashRaw, parseOptions, verify } from '@node-rs/argon2';
import { createGate } from '@recordbus/shared/gate';

/** OWASP's minimum for argon2id; one lane, because each further one is a thread per hash. */
const parameters = { algorithm: 2 satisfies Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * Hashes run on libuv's four threads, where file access and name lookups run too, and take a core each. One core
 * stays with the event loop, so a flood of logins waits in line and slows nothing but itself.
 */
const gate = createGate({
  width: Math.min(Math.max(availableParallelism() - 1, 1), 3),
  maxWaiting: 1000,
  refusal: 'too many passwords are being checked',
});

/** Argon2id hash of a password in PHC string form. Throws 503 when too many hashes are waiting. */
export const hashPassword = (password: string): Promise<string> => gate.run(() => hash(password, parameters));

/**
 * Does the password belong to the hash? An unknown user (no hash) takes the same time and is never right.
 * Throws 503 when too many hashes are waiting.
 */
export const verifyPassword = (passwordHash: string | undefined, password: string): Promise<boolean> =>
  gate.run(() => verify(passwordHash ?? nobodysHash, password));

/**
 * What a short secret is found by: the same digest for the same salt, as slow to guess as a password. In hex. Throws 503
 * when too many hashes are waiting.
 */
export const slowDigest = (secret: string, salt: Uint8Array): Promise<string> =>
  gate.run(async () => (await hashRaw(secret, { ...parameters, salt })).toString('hex'));

/** Was the hash made with other parameters than today's? Then a login that succeeds stores a new one. */
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

/** A digest that no password gives, with today's parameters, so that refusing an unknown user costs a whole hash. */
const nobodysHash = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$${base64(16)}$${base64(32)}`;
