import { type Collection, recordColumns, selectList } from '@recordbus/schema';

/** A user, with what a sign-in needs. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly verified: boolean;
  /** Null for an account without a password. */
  readonly passwordHash: string | null;
  readonly tokenVersion: number;
  readonly isAnonymous: boolean;
  readonly totpEnabled: boolean;
  /** The record as the records API shows it: the only part that may leave the service. */
  readonly record: Readonly<Record<string, unknown>>;
}

/** The select list for a `User` from a row with the given alias. */
export const selectUser = (collection: Collection, alias: string): string =>
  `${alias}.id, ${alias}.email, ${alias}.verified, ${alias}.password_hash as "passwordHash",
  ${alias}.token_version as "tokenVersion", ${alias}.is_anonymous as "isAnonymous", ${alias}.totp_enabled as "totpEnabled",
  (select row_to_json(r.*) from (select ${selectList(recordColumns(collection), alias)}) r) as record`;
