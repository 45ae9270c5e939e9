export {
  type AccountHooks,
  accountHookPaths,
  type HookedAccounts,
  isHooked,
  noAccountHooks,
  nothingHooked,
} from './account-hooks.ts';
export { auditUser, type UserAction } from './audit-user.ts';
export type { BeforeUserWrite } from './before-user-write.ts';
export { changeUser, type UserChange, userChange } from './change-user.ts';
export { createUser, type NewUser, newUser, unproved } from './create-user.ts';
export { findUserByEmail, findUserById, lockUser } from './find-user.ts';
export { followHookedAccounts, noteHookedAccounts } from './hooked-accounts.ts';
export { insertLink } from './oauth-link.ts';
export { finishOneTimeToken } from './one-time-token.ts';
export { readerOf } from './record-reader.ts';
export { type SignInAttempt, type SignInFlow, signedInEvent, signInAttempt, signInFlow } from './sign-in.ts';
export { selectUser, type User } from './user.ts';
