import type { Caller } from './caller.ts';
import type { AnyCollection, AnySchema, RecordOf, UpdateOf } from './schema.ts';
import type { Tools } from './tools.ts';

/** A write before its commit. */
export interface Write<T = AnyCollection> {
  readonly operation: 'create' | 'update' | 'delete';
  readonly collection: string;
  /** The record's id; undefined for a create. */
  readonly id: string | undefined;
  /**
   * The client's values. For a record whose relation a delete clears, that relation as null. For a restore, all values.
   * A before hook may set, change and remove members. The write continues with the result, which is validated like any
   * other body. It never holds passwords, and it is empty for a delete.
   */
  readonly values: UpdateOf<T>;
  /** The record as stored before the write; undefined for a create. */
  readonly previous: RecordOf<T> | undefined;
  readonly caller: Caller;
  readonly requestId: string;
}

/** An update or a delete before its commit: a write to a record that exists. */
export interface WriteOfStored<T = AnyCollection> extends Write<T> {
  readonly id: string;
  readonly previous: RecordOf<T>;
}

/** A committed write. A hook may get the same event more than once; use `id` for work that must happen once. */
export interface RecordEvent<T = AnyCollection> {
  /** The same whenever the event is repeated. */
  readonly id: string;
  /** `<collection>.<operation>`. */
  readonly event: string;
  readonly operation: 'create' | 'update' | 'delete';
  readonly collection: string;
  /** The record after the write; for a delete, before it. */
  readonly record: RecordOf<T>;
  /** For an update: the record before it, and the changed fields. */
  readonly previous: RecordOf<T> | undefined;
  readonly changed: readonly string[] | undefined;
  /** The record's version after the write: the text within its ETag, unique among a record's events. */
  readonly version: string;
  readonly actor: { readonly type: string; readonly id: string | null };
  readonly requestId: string | null;
  /** Unix seconds. */
  readonly timestamp: number;
}

/** A committed update. */
export interface UpdateEvent<T = AnyCollection> extends RecordEvent<T> {
  readonly operation: 'update';
  readonly previous: RecordOf<T>;
  readonly changed: readonly string[];
}

export type BeforeHook<T = AnyCollection, S = AnySchema> = (write: Write<T>, tools: Tools<S>) => Promise<void> | void;
export type BeforeStoredHook<T = AnyCollection, S = AnySchema> = (
  write: WriteOfStored<T>,
  tools: Tools<S>,
) => Promise<void> | void;
export type AfterHook<T = AnyCollection, S = AnySchema> = (
  event: RecordEvent<T>,
  tools: Tools<S>,
) => Promise<void> | void;
export type AfterUpdateHook<T = AnyCollection, S = AnySchema> = (
  event: UpdateEvent<T>,
  tools: Tools<S>,
) => Promise<void> | void;

/** One collection's hooks, or all collections' under the name `*`. */
export interface CollectionHooks<T = AnyCollection, S = AnySchema> {
  /** Before a create's or update's fields are validated. */
  readonly beforeValidate?: BeforeHook<T, S>;
  /** After they were validated. */
  readonly afterValidate?: BeforeHook<T, S>;
  readonly beforeCreate?: BeforeHook<T, S>;
  readonly beforeUpdate?: BeforeStoredHook<T, S>;
  readonly beforeDelete?: BeforeStoredHook<T, S>;
  readonly afterCreate?: AfterHook<T, S>;
  readonly afterUpdate?: AfterUpdateHook<T, S>;
  readonly afterDelete?: AfterHook<T, S>;
}

/** A way to sign in. */
export type SignInFlow =
  | 'register'
  | 'password'
  | 'otp'
  | 'oauth2'
  | 'passkey'
  | 'anonymous'
  | 'promote'
  | 'second_factor';

/** An attempt to sign in, before any check. */
export interface SignInAttempt {
  readonly flow: SignInFlow;
  /** The auth collection. */
  readonly collection: string;
  /** The email address in the request, if the flow has one. */
  readonly email: string | undefined;
  /** What a login has instead of an address, such as a username. */
  readonly identity: string | undefined;
  readonly clientAddress: string;
  readonly userAgent: string | undefined;
  readonly requestId: string;
}

/** A completed sign-in. A hook may get the same one more than once; use `id` for work that must happen once. */
export interface SignIn extends SignInAttempt {
  /** The same whenever the sign-in is repeated. */
  readonly id: string;
  readonly userId: string;
}

export type BeforeSignIn<S = AnySchema> = (attempt: SignInAttempt, tools: Tools<S>) => Promise<void> | void;
export type AfterSignIn<S = AnySchema> = (signIn: SignIn, tools: Tools<S>) => Promise<void> | void;

/** The sign-in hooks of one auth collection, or of all under the name `*`. */
export interface SignInHooks<S = AnySchema> {
  /** May refuse the attempt. */
  readonly before?: BeforeSignIn<S>;
  readonly after?: AfterSignIn<S>;
}
