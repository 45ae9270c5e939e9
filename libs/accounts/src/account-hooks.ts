import type { RequestContext } from '@recordbus/shared/context';
import { z } from 'zod';
import type { UserChange } from './change-user.ts';
import type { NewUser } from './create-user.ts';
import type { SignInAttempt } from './sign-in.ts';

const collections = z.array(z.string()).readonly();

/** The collections that have hooks, by what these are about; `*` stands for all of them. */
export const hookedAccounts = z
  .object({
    /** Asked before a sign-in. */
    signIn: collections,
    /** Told of a sign-in that worked. */
    signedIn: collections,
    /** Stand before a user is made. */
    create: collections,
    /** Stand before the fields of a user are changed. */
    update: collections,
  })
  .readonly();
export type HookedAccounts = z.infer<typeof hookedAccounts>;

/** No collection has hooks. */
export const nothingHooked: HookedAccounts = { signIn: [], signedIn: [], create: [], update: [] };

/** The code of users around the accounts that the auth service writes; whoever runs that code says how. */
export interface AccountHooks {
  /** As they are now. Who is not hooked does everything by itself. */
  readonly hooked: HookedAccounts;
  /** Throws what refuses the attempt. */
  beforeSignIn(attempt: SignInAttempt, context: RequestContext): Promise<void>;
  /**
   * Makes a user in one transaction with what stands before; false, and nothing is written, when another user has the
   * link. Throws what refuses the user.
   */
  createUser(collection: string, user: NewUser, context: RequestContext): Promise<boolean>;
  /**
   * Changes a user in the same way; false, and nothing is written, when there is no such user, the condition does not
   * hold or the token is used up.
   */
  changeUser(collection: string, change: UserChange, context: RequestContext): Promise<boolean>;
}

/** Has the collection hooks of a kind? */
export const isHooked = (
  { hooked }: Pick<AccountHooks, 'hooked'>,
  kind: keyof HookedAccounts,
  { name }: { readonly name: string },
): boolean => hooked[kind].some((listed) => listed === '*' || listed === name);

/** For a system without such code. */
export const noAccountHooks: AccountHooks = {
  hooked: nothingHooked,
  beforeSignIn: async () => {},
  createUser: async () => false,
  changeUser: async () => false,
};

/** Where the service that runs the code is asked by another one. */
export const accountHookPaths = {
  signIn: '/internal/sign-in-hooks',
  users: '/internal/users/:collection',
} as const;
