import type { RequestContext } from '@recordbus/request/context';
import { z } from 'zod';
import type { Removable } from '../identity/account-changes.ts';
import type { UserChange } from '../writes/change-user.ts';
import type { NewUser } from '../writes/create-user.ts';

/** A way to sign in. */
export const signInFlow = z.enum([
  'register',
  'password',
  'otp',
  'oauth2',
  'passkey',
  'anonymous',
  'promote',
  'second_factor',
]);
export type SignInFlow = z.infer<typeof signInFlow>;

/** An attempt to sign in. */
export const signInAttempt = z
  .object({
    flow: signInFlow,
    /** The auth collection's name. */
    collection: z.string(),
    email: z.string().optional(),
    /** What a login names the account by, if not `email`. */
    identity: z.string().optional(),
    userAgent: z.string().optional(),
  })
  .readonly();
export type SignInAttempt = z.infer<typeof signInAttempt>;

/** The event for a sign-in to a collection with hooks after it. Its data is the attempt with `user_id`. */
export const signedInEvent = 'system.signed_in';

/** A new user's picture at a provider, and the file fields for it. */
export const userPicture = z
  .object({ id: z.string(), url: z.string(), fields: z.array(z.string()).readonly() })
  .readonly();
export type UserPicture = z.infer<typeof userPicture>;

const collections = z.array(z.string()).readonly();

/** The collections with hooks, by hook kind; `*` is every collection. */
export const hookedCollections = z
  .object({
    /** Hooks before a sign-in. */
    signIn: collections,
    /** Hooks after a sign-in. */
    signedIn: collections,
    /** Hooks before a user is created. */
    create: collections,
    /** Hooks before a user's fields change. */
    update: collections,
  })
  .readonly();
export type HookedCollections = z.infer<typeof hookedCollections>;

/** No collection has hooks. */
export const nothingHooked: HookedCollections = { signIn: [], signedIn: [], create: [], update: [] };

/** What the records service does for the auth service: extensions' hooks, and users' pictures. */
export interface AccountHooks {
  /** The current collections with hooks. The auth service writes other collections' users itself. */
  readonly hooked: HookedCollections;
  /** Runs the hooks before a sign-in. Throws a hook's refusal. */
  beforeSignIn(attempt: SignInAttempt, context: RequestContext): Promise<void>;
  /**
   * Creates a user in one transaction with its before hooks. Returns false, and writes nothing, when another user has
   * the link. Throws a hook's or the user's refusal.
   */
  createUser(collection: string, user: NewUser, context: RequestContext): Promise<boolean>;
  /**
   * Changes a user in the same way and returns what the change removed from the account. Returns undefined, and writes
   * nothing, when the user does not exist, the condition does not hold, or the token is used up.
   */
  changeUser(
    collection: string,
    change: UserChange,
    context: RequestContext,
  ): Promise<readonly Removable[] | undefined>;
  /** Fetches a picture into a user's file fields. Failures are logged; it throws only if the request fails. */
  takePicture(collection: string, picture: UserPicture, context: RequestContext): Promise<void>;
}

/** Whether the collection has hooks of this kind. */
export const isHooked = (
  { hooked }: Pick<AccountHooks, 'hooked'>,
  kind: keyof HookedCollections,
  { name }: { readonly name: string },
): boolean => hooked[kind].some((listed) => listed === '*' || listed === name);

/** The hooks in a system without a records service. */
export const noAccountHooks: AccountHooks = {
  hooked: nothingHooked,
  beforeSignIn: async () => {},
  createUser: async () => false,
  changeUser: async () => undefined,
  takePicture: async () => {
    throw new Error('the auth service does not know where the records service is (SERVICE_RECORDS_URL)');
  },
};

/** These functions' internal paths at the records service. */
export const accountHookPaths = {
  signIn: '/internal/sign-in-hooks',
  users: '/internal/users/:collection',
  pictures: '/internal/user-pictures/:collection',
} as const;
