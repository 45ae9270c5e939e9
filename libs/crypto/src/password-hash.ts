import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { type Algorithm, hash, hashRaw, verify } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { unavailable } from '@recordbus/errors';
import { createFairGate } from '@recordbus/limits/fair-gate';
import { currentCaller } from '@recordbus/request/request-scope';
import { composedPassword, passwordForms } from './password-form.ts';
import { isBcrypt, ownParameters, takesMoreMemory, useOf } from './stored-hash.ts';

const parameters = { algorithm: 2 satisfies Algorithm.Argon2id, ...ownParameters };

/** libuv's threads, which hashes share with file access and name lookups. */
const threads = Number(process.env.UV_THREADPOOL_SIZE) || 4;

const waiting = {
  maxWaiting: 2000,
  maxWaitingPerClient: 1000,
  maxWaitMs: 30_000,
  refuse: () => unavailable('too many passwords are being checked'),
};

const width = Math.max(Math.min(availableParallelism() - 1, Math.floor((threads * 3) / 4)), 1);

/**
 * Each hash takes a core and a thread. The gate keeps one core for the event loop and a quarter of the threads for
 * files. Clients take turns, so a flood of logins slows only itself.
 */
const gate = createFairGate({
  width,
  widthPerClient: Math.max(Math.ceil((width * 3) / 4), 1),
  reserved: width > 3 ? 1 : 0,
  ...waiting,
});

/** Imported hashes may take 152 MiB each: with two at once, a service's memory fits the chart's limit. */
const memoryGate = createFairGate({ width: 2, widthPerClient: 1, ...waiting });

/** Hashes a password in NFC with argon2id; returns the PHC string. Throws 503 when too many hashes are waiting. */
export const hashPassword = (password: string): Promise<string> =>
  gate.run(currentCaller(), () => hash(composedPassword(password), parameters));

/** A hash to compute. */
interface HashCheck {
  readonly passwordHash: string;
  readonly password: string;
}

/**
 * Returns the hashes to compute for a password, in order, until one matches (auth §2.2, §4.1). Without a hash, and for
 * one that is never computed, they are as many, from a hash that no password matches: the number depends on the
 * password only.
 */
export const checksOf = (passwordHash: string | undefined, password: string): readonly HashCheck[] => {
  const isComputed = passwordHash !== undefined && useOf(passwordHash) !== 'unusable';
  return passwordForms(password).map((form) => ({
    passwordHash: isComputed ? passwordHash : unmatchableHash,
    password: form,
  }));
};

/**
 * Checks a password against its hash, and returns the password form that the hash was made from; undefined when it is
 * wrong. Without a hash (unknown user), or with one that is never computed, it takes the same time as for a wrong
 * password. Throws 503 when too many hashes are waiting.
 */
export async function findRightForm(passwordHash: string | undefined, password: string): Promise<string | undefined> {
  for (const check of checksOf(passwordHash, password)) {
    const compute = () => gate.run(currentCaller(), () => isMatch(check));
    const isRight = takesMoreMemory(check.passwordHash) ? memoryGate.run(currentCaller(), compute) : compute();
    if (await isRight) return check.password;
  }
  return undefined;
}

/** Whether a password is right, like `findRightForm`. */
export const verifyPassword = async (passwordHash: string | undefined, password: string): Promise<boolean> =>
  (await findRightForm(passwordHash, password)) !== undefined;

/** Other systems' hashes may have the right form and parameters that no hash has: no password matches them. */
const isMatch = ({ passwordHash, password }: HashCheck): Promise<boolean> =>
  (isBcrypt(passwordHash) ? verifyBcrypt(password, passwordHash) : verify(passwordHash, password)).catch(() => false);

/**
 * Returns a short secret's argon2id digest in hex. It is the same for the same salt, so it can be looked up, and is as
 * slow to guess as a password. Throws 503 when too many hashes are waiting.
 */
export const slowDigest = (secret: string, salt: Uint8Array): Promise<string> =>
  gate.run(currentCaller(), async () => (await hashRaw(secret, { ...parameters, salt })).toString('hex'));

/**
 * Whether a hash should be replaced after the right password: it has other parameters than the current ones, or was
 * made from the password in another form than NFC (auth §2.2).
 */
export const needsRehash = (passwordHash: string, rightForm: string): boolean =>
  useOf(passwordHash) !== 'own' || rightForm !== composedPassword(rightForm);

/** Whether the right password must be replaced by a reset, because its hash uses an algorithm that is not accepted. */
export const needsReset = (passwordHash: string): boolean => useOf(passwordHash) === 'weak';

const base64 = (byteCount: number) => randomBytes(byteCount).toString('base64').replaceAll('=', '');

/** A hash that no password matches, with the current parameters, so that an unknown user costs a whole hash. */
const unmatchableHash = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$${base64(16)}$${base64(32)}`;
