export { type EncryptionKey, findEncryptionKey, keyFileOf, nextKeyFileOf, readKeyFile } from './key-file.ts';
export { composedPassword } from './password-form.ts';
export { findRightForm, hashPassword, needsRehash, needsReset, slowDigest, verifyPassword } from './password-hash.ts';
export { findPasswordProblem } from './password-policy.ts';
export { isStoredHash, useOf } from './stored-hash.ts';
export { createValueCipher, isCiphertext, type ValueCipher } from './value-cipher.ts';
