import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { KeptReply } from '@recordbus/http';

/**
 * Hashes and encrypts the data that is stored for a key. Answers may hold tokens, and requests may hold passwords,
 * which a plain hash would let an attacker guess quickly.
 */
export interface KeySeal {
  /** Returns the row's id for a key with its caller and route. */
  idOf(identity: string): Buffer;
  /** Returns the keyed hash of a request's digest. */
  fingerprintOf(id: Buffer, digest: Buffer): Buffer;
  seal(id: Buffer, reply: KeptReply): Buffer;
  /** Throws when the answer was not sealed under this id with this secret. */
  open(id: Buffer, sealed: Buffer): KeptReply;
}

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** Derives its keys from the deployment's token secret (raw bytes). With another secret, no stored key is found. */
export function createKeySeal(secret: Uint8Array): KeySeal {
  const derive = (purpose: string) =>
    new Uint8Array(hkdfSync('sha256', secret, '', `recordbus idempotency ${purpose}`, 32));
  const names = derive('names');
  const answers = derive('answers');
  return {
    idOf: (identity) => createHmac('sha256', names).update(identity).digest(),
    fingerprintOf: (id, digest) => createHmac('sha256', names).update(id).update(digest).digest(),
    seal(id, reply) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, answers, iv).setAAD(id);
      return Buffer.concat([iv, cipher.update(JSON.stringify(reply), 'utf8'), cipher.final(), cipher.getAuthTag()]);
    },
    open(id, sealed) {
      const decipher = createDecipheriv(algorithm, answers, sealed.subarray(0, ivBytes), { authTagLength: tagBytes });
      decipher.setAAD(id).setAuthTag(sealed.subarray(-tagBytes));
      const text = decipher.update(sealed.subarray(ivBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
      return JSON.parse(text);
    },
  };
}

/** Compares two fingerprints in constant time. */
export const isSame = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);
