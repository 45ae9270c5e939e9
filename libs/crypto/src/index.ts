export { createEnvelope, type Envelope, isSealed } from './envelope.ts';
export { hashPassword, needsRehash, slowDigest, verifyPassword } from './password-hash.ts';
export { defaultPasswordPolicy, findPasswordProblem, type PasswordPolicy } from './password-policy.ts';
