export { type Accounts, createAccounts } from './accounts.ts';
export type { KeyRefusal, KeyRing, KeyVerdict } from './keys/key-ring.ts';
export { collectionNames, findKeyPrincipal, namedScopes, type ServicePrincipal } from './keys/key-rows.ts';
export { isKeyId, newKeyText, shownKey } from './keys/key-text.ts';
export type { RevokedSubjects } from './revocation-feed.ts';
export { sessionOf } from './session-of.ts';
