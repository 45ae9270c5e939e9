export { type EncryptionKey, findEncryptionKey, keyFileOf, nextKeyFileOf, readKeyFile } from './key-file.ts';
export { hashPassword, needsRehash, slowDigest, verifyPassword } from './password-hash.ts';
export { findPasswordProblem } from './password-policy.ts';
export { createValueCipher, isCiphertext, type ValueCipher } from './value-cipher.ts';
