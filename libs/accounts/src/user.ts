import { type Collection, recordColumns, selectList } from '@recordbus/schema';

/** A user as signing in needs them. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly verified: boolean;
  /** Null when no password opens the account. */
  readonly passwordHash: string | null;
  readonly tokenVersion: number;
  readonly isAnonymous: boolean;
  readonly totpEnabled: boolean;
  /** The user as the records API shows them: the only part that may leave the service. */
  readonly record: Readonly<Record<string, unknown>>;
}

/** The select list that gives a `User` of a row of the collection's table (under the given alias). */
export const selectUser = (collection: Collection, alias: string): string =>
  `${alias}.id, ${alias}.email, ${alias}.verified, ${alias}.password_hash as "passwordHash",
  ${alias}.token_version as "tokenVersion", ${alias}.is_anonymous as "isAnonymous", ${alias}.totp_enabled as "totpEnabled",
  (select row_to_json(r.*) from (select ${selectList(recordColumns(collection), alias)}) r) as record`;
