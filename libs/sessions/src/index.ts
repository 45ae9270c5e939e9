export { type Accounts, createAccounts } from './accounts.ts';
export type { RevokedSubjects } from './revocation-feed.ts';
export { sessionOf } from './session-of.ts';
