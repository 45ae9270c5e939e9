export { deleteBlock, endTokens, finishOneTimeToken, insertBlock, refuseBlocked, replaceUserHash } from './access.ts';
export { type AuditValues, auditedAccount, auditUser, auditValuesOf, type UserAction } from './audit.ts';
export { findUserByEmail, findUserById, findUserByIdentity, lockUser } from './find-user.ts';
export {
  type AccountHooks,
  accountHookPaths,
  type HookedCollections,
  isHooked,
  noAccountHooks,
  nothingHooked,
  type SignInAttempt,
  type SignInFlow,
  signedInEvent,
  signInAttempt,
  signInFlow,
  type UserPicture,
  userPicture,
} from './hooks/account-hooks.ts';
export { followHookedCollections, storeHookedCollections } from './hooks/hooked-collections.ts';
export {
  type AccountChange,
  hasAccountChanges,
  noteRemovedWays,
  type Removable,
  removable,
  takeAccountChange,
} from './identity/account-changes.ts';
export {
  deleteLinks,
  findLinkedUser,
  insertLink,
  type Link,
  linkOf,
  listLinkedProviders,
  listLinks,
} from './identity/links.ts';
export {
  countWaysIn,
  deletePasskey,
  findPasskey,
  insertPasskey,
  listPasskeys,
  type Passkey,
  type PasskeyCredential,
  type PasskeyOwner,
  type PasskeyUse,
  renamePasskey,
  usePasskey,
} from './identity/passkeys.ts';
export {
  guessOldPassword,
  type OfferedProof,
  proofRequired,
  recentSignInSec,
  requireFreshProof,
  requireProof,
} from './identity/require-proof.ts';
export { findAccount, listAccounts } from './list-accounts.ts';
export { needsSecondFactor, secondFactorCondition } from './second-factor-rule.ts';
export { compileSignInRule, hasSignInRule, refuseSignIn, signInCondition } from './sign-in-rule.ts';
export { type BeforeUserWrite, hasAccounts, readerOf, selectUser, type User } from './user.ts';
export { findRefusedFields, visibleRecord } from './visible-record.ts';
export { type AccountValues, accountUpdateSql, tokenVersionAt } from './writes/account-columns.ts';
export { type ChangedUser, changeUser, type UserChange, userChange } from './writes/change-user.ts';
export { createUser, type NewUser, newUser } from './writes/create-user.ts';
export {
  type AccountCaller,
  type AccountRules,
  type AccountUpdate,
  readAccountUpdate,
} from './writes/read-account-update.ts';
export { readNewAccount, verifiedIsForAdmins } from './writes/read-new-account.ts';
export { readSignUpRequest, type SignUpRequest, signUpClosed } from './writes/sign-up.ts';
