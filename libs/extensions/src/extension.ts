import type { Cron } from './cron.ts';
import type { CustomEvent } from './event.ts';
import type { CollectionHooks, SignInHooks } from './hooks.ts';
import type { MailHook } from './incoming-mail.ts';
import type { Job } from './job.ts';
import type { Route } from './route.ts';
import type { AnyCollection, AnySchema, SchemaOf } from './schema.ts';

/** Hooks by collection name; `*` means every collection. */
type HooksOf<S> = { readonly [C in keyof S]?: CollectionHooks<S[C], S> } & {
  readonly '*'?: CollectionHooks<AnyCollection, S>;
};

/** An extension's declarations. `Schema` has the types that `recordbus types` writes. */
export interface Extension<S = AnySchema> {
  readonly hooks?: HooksOf<S>;
  /** By the name of the auth collection; `*` means every one. */
  readonly signIn?: Readonly<Record<string, SignInHooks<S>>>;
  readonly routes?: readonly Route<S>[];
  readonly crons?: readonly Cron<S>[];
  /** The custom events that it publishes, for the catalogue of events. */
  readonly events?: readonly CustomEvent[];
  /** By name: letters, digits, `_` and `-`. */
  readonly jobs?: Readonly<Record<string, Job<S>>>;
  /** Takes the mails that come in at `/api/v1/mail/inbound/<provider>`. */
  readonly onMail?: MailHook<S>;
}

/**
 * Declares an extension. Its file exports it as `extension`; the name of the file is its name. With the types of the
 * collections, `defineExtension<Schema>(…)`, hooks, routes, crons, jobs and their tools know the fields of records.
 */
export const defineExtension = <S extends SchemaOf<S> = AnySchema>(declaration: Extension<S>): Extension<S> =>
  declaration;
