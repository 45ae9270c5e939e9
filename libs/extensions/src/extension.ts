import type { Cron } from './cron.ts';
import type { CollectionHooks, SignInHooks } from './hooks.ts';
import type { Route } from './route.ts';

/** Everything that one extension adds. */
export interface Extension {
  /** By the name of the collection; `*` is every collection. */
  readonly hooks?: Readonly<Record<string, CollectionHooks>>;
  /** By the name of the auth collection; `*` is every one. */
  readonly signIn?: Readonly<Record<string, SignInHooks>>;
  readonly routes?: readonly Route[];
  readonly crons?: readonly Cron[];
}

/** Declares an extension; its file exports it as `extension` and gives it its name. */
export const defineExtension = (declaration: Extension): Extension => declaration;
