export {
  type AccountHooks,
  accountHookPaths,
  type HookedCollections,
  isHooked,
  noAccountHooks,
  nothingHooked,
} from './account-hooks.ts';
export { auditUser, type UserAction } from './audit-user.ts';
export type { BeforeUserWrite } from './before-user-write.ts';
export { type ChangedUser, changeUser, type UserChange, userChange } from './change-user.ts';
export { createUser, type NewUser, newUser, verifiedIsForAdmins } from './create-user.ts';
export { findUserByEmail, findUserById, lockUser } from './find-user.ts';
export { followHookedCollections, storeHookedCollections } from './hooked-collections.ts';
export { noteRemovedWays, type Removable, removable } from './identity/removed-ways.ts';
export {
  guessOldPassword,
  type OfferedProof,
  proofRequired,
  requireFreshProof,
  requireProof,
} from './identity/require-proof.ts';
export { insertLink } from './oauth-link.ts';
export { finishOneTimeToken } from './one-time-token.ts';
export { readerOf } from './record-reader.ts';
export { findRefusedFields } from './refused-fields.ts';
export { type SignInAttempt, type SignInFlow, signedInEvent, signInAttempt, signInFlow } from './sign-in.ts';
export { signUpClosed } from './sign-up.ts';
export { readSignUpRequest, type SignUpRequest } from './sign-up-request.ts';
export { selectUser, type User } from './user.ts';
export { type UserPicture, userPicture } from './user-picture.ts';
export { visibleRecord } from './visible-record.ts';
