export { createEnvelope, type Envelope, isSealed } from './envelope.ts';
export { hashPassword, needsRehash, slowDigest, verifyPassword } from './password-hash.ts';
export { findPasswordProblem } from './password-policy.ts';
