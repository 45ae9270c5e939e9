import type { Caller } from './caller.ts';
import type { RecordData, Tools } from './tools.ts';

/** A write that is about to happen. */
export interface Write {
  readonly operation: 'create' | 'update' | 'delete';
  readonly collection: string;
  /** Of the record that is changed or deleted; undefined for one that is created. */
  readonly id: string | undefined;
  /**
   * What the client wrote; the relations that a delete clears, as null; or all that a restore brings back. A before hook
   * may set, change and remove members: the write goes on with what it leaves, and that is validated like any other body.
   * Passwords are never in it; it is empty for a delete.
   */
  readonly values: RecordData;
  /** The record as it is stored; undefined for one that is created. */
  readonly previous: RecordData | undefined;
  readonly caller: Caller;
  readonly requestId: string;
}

/** A write that happened. It may be told more than once: what must happen once is guarded by `id`. */
export interface RecordEvent {
  /** The same each time the event is told. */
  readonly id: string;
  /** `<collection>.<operation>`. */
  readonly event: string;
  readonly operation: 'create' | 'update' | 'delete';
  readonly collection: string;
  /** As it was when it happened; of a delete, as it last was. */
  readonly record: RecordData;
  /** Of an update: the record before it, and the names of the fields that changed. */
  readonly previous: RecordData | undefined;
  readonly changed: readonly string[] | undefined;
  readonly actor: { readonly type: string; readonly id: string | null };
  readonly requestId: string | null;
  /** Unix seconds. */
  readonly timestamp: number;
}

export type BeforeHook = (write: Write, tools: Tools) => Promise<void> | void;
export type AfterHook = (event: RecordEvent, tools: Tools) => Promise<void> | void;

/** The hooks of one collection, or of all under the name `*`. */
export interface CollectionHooks {
  /** Before the fields of a create or update are checked. */
  readonly beforeValidate?: BeforeHook;
  /** Once they are in order. */
  readonly afterValidate?: BeforeHook;
  readonly beforeCreate?: BeforeHook;
  readonly beforeUpdate?: BeforeHook;
  readonly beforeDelete?: BeforeHook;
  readonly afterCreate?: AfterHook;
  readonly afterUpdate?: AfterHook;
  readonly afterDelete?: AfterHook;
}

/** A way to sign in. */
export type SignInFlow = 'register' | 'password' | 'otp' | 'oauth2' | 'anonymous' | 'promote' | 'second_factor';

/** Somebody who wants to sign in; nothing of what they sent has been checked. */
export interface SignInAttempt {
  readonly flow: SignInFlow;
  /** The auth collection. */
  readonly collection: string;
  /** The address that was sent, if the flow takes one. */
  readonly email: string | undefined;
  readonly clientAddress: string;
  readonly userAgent: string | undefined;
  readonly requestId: string;
}

/** Somebody who has signed in. It may be told more than once: what must happen once is guarded by `id`. */
export interface SignIn extends SignInAttempt {
  /** The same each time the sign-in is told. */
  readonly id: string;
  readonly userId: string;
}

export type BeforeSignIn = (attempt: SignInAttempt, tools: Tools) => Promise<void> | void;
export type AfterSignIn = (signIn: SignIn, tools: Tools) => Promise<void> | void;

/** The sign-in hooks of one auth collection, or of all under the name `*`. */
export interface SignInHooks {
  /** May refuse the attempt. */
  readonly before?: BeforeSignIn;
  readonly after?: AfterSignIn;
}
