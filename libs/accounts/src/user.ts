import { type Collection, compileRecordReader, type RecordReader, recordColumns, selectList } from '@recordbus/schema';
import { z } from 'zod';

/** Whether the collection's records are accounts. */
export const hasAccounts = ({ type }: Pick<Collection, 'type'>): boolean => type === 'auth';

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

/** A user's fields, as in a record's body. */
export const userFields = z.record(z.string(), z.unknown()).readonly();

type UserFields = z.infer<typeof userFields>;

/**
 * Runs the hooks before a user is written, in its transaction. Returns the fields that they leave, or undefined when
 * the user does not exist. Throws a hook's refusal.
 */
export type BeforeUserWrite = (fields: UserFields) => Promise<UserFields | undefined>;

const readers = new WeakMap<Collection, RecordReader>();

/** Returns a collection's body reader, one per schema version. It accepts no files. */
export function readerOf(collection: Collection): RecordReader {
  const reader = readers.get(collection) ?? compileRecordReader(collection, { takesFiles: false });
  readers.set(collection, reader);
  return reader;
}
