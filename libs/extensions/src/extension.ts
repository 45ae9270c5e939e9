import type { Cron } from './cron.ts';
import type { CollectionHooks, SignInHooks } from './hooks.ts';
import type { Route } from './route.ts';

/** The declarations of an extension. */
export interface Extension {
  /** By the name of the collection; `*` means every collection. */
  readonly hooks?: Readonly<Record<string, CollectionHooks>>;
  /** By the name of the auth collection; `*` means every one. */
  readonly signIn?: Readonly<Record<string, SignInHooks>>;
  readonly routes?: readonly Route[];
  readonly crons?: readonly Cron[];
}

/** Declares an extension. Its file exports it as `extension`; the name of the file is its name. */
export const defineExtension = (declaration: Extension): Extension => declaration;
