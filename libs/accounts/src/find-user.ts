import { createHash } from 'node:crypto';
import type { Query } from '@recordbus/database';
import {
  type Collection,
  comparedBy,
  comparedValue,
  hasComparableValue,
  identityFieldsOf,
  lookupForms,
  perCollection,
  tableOf,
} from '@recordbus/schema';
import { selectUser, type User } from './user.ts';

/** More characters than any address has with spaces around it (RFC 5321 §4.5.3.1). */
const maxAddressLength = 320;

/** Finds this mailbox's user, in whatever form it is written (auth §1.3). Accepts any text. */
export async function findUserByEmail(query: Query, collection: Collection, email: string): Promise<User | undefined> {
  if (email.length > maxAddressLength) return undefined;
  if (email.trim() === '' || email.includes('\0')) return undefined;
  for (const form of lookupForms(email)) {
    const [user] = await query<User>({
      text: `select ${selectUser(collection, 't')} from ${tableOf(collection)} t where lower(t.email) = lower($1::text) and t.email <> ''`,
      values: [form],
    });
    if (user) return user;
  }
  return undefined;
}

/** More characters than any unique text has (fields §2.6). */
const maxIdentityLength = 2600;

/**
 * Finds the user whose value in one of these fields is the identity (auth §4.1). `email` is the address, which comes
 * first, then the fields in their order. One statement looks in all of them, so it takes the same time for every
 * identity. Accepts any text.
 */
export async function findUserByIdentity(
  query: Query,
  collection: Collection,
  identity: string,
  fieldNames: readonly string[],
): Promise<User | undefined> {
  const fields = identityFieldsOf(collection, fieldNames);
  const hasAddress = fieldNames.includes('email');
  if (fields.length === 0) return hasAddress ? findUserByEmail(query, collection, identity) : undefined;
  if (identity.length > maxIdentityLength || identity.trim() === '' || identity.includes('\0')) return undefined;
  const [typed = '', canonical = typed] = lookupForms(identity);
  const table = tableOf(collection);
  const byAddress = (form: string) =>
    `(select a.id from ${table} a where lower(a.email) = lower(${form}::text) and a.email <> '')`;
  const own = hasAddress ? '$3' : '$1';
  const byField = fields.map(
    (field) =>
      `(select id from ${table} where ${comparedValue(field)} = ${comparedBy(field, `${own}::text`)} and ${hasComparableValue(field)})`,
  );
  const byAddresses = hasAddress ? [byAddress('$1'), byAddress('$2')] : [];
  const [user] = await query<User>({
    text: `select ${selectUser(collection, 't')} from ${table} t
      where t.id = coalesce(${[...byAddresses, ...byField].join(', ')})`,
    values: hasAddress ? [typed, canonical, identity] : [identity],
  });
  return user;
}

/** Each connection prepares it once. Its name is a hash over its text, which follows the fields. */
const byId = perCollection((collection) => {
  const text = `select ${selectUser(collection, 't')} from ${tableOf(collection)} t where t.id = $1::text`;
  return { name: `user ${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`, text };
});

/** Finds the user with this id. */
export async function findUserById(query: Query, collection: Collection, id: string): Promise<User | undefined> {
  if (id.includes('\0')) return undefined;
  const [user] = await query<User>({ ...byId(collection), values: [id] });
  return user;
}

/** Finds the user with this id and locks the row for the rest of the transaction. */
export async function lockUser(query: Query, collection: Collection, id: string): Promise<User | undefined> {
  const [user] = await query<User>({
    text: `select ${selectUser(collection, 't')} from ${tableOf(collection)} t where t.id = $1::text for update`,
    values: [id],
  });
  return user;
}
