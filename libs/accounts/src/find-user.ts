import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';
import { selectUser, type User } from './user.ts';

/** The user with this address, spaces around it and its case aside (contract §4); any text may be asked for. */
export async function findUserByEmail(query: Query, collection: Collection, email: string): Promise<User | undefined> {
  const address = email.trim();
  if (address === '' || address.includes('\0')) return undefined;
  const [user] = await query<User>({
    text: `select ${selectUser(collection, 't')} from ${tableOf(collection)} t where lower(t.email) = lower($1::text) and t.email <> ''`,
    values: [address],
  });
  return user;
}

/** The user with this id. */
export async function findUserById(query: Query, collection: Collection, id: string): Promise<User | undefined> {
  if (id.includes('\0')) return undefined;
  const [user] = await query<User>({
    text: `select ${selectUser(collection, 't')} from ${tableOf(collection)} t where t.id = $1::text`,
    values: [id],
  });
  return user;
}

/** The user with this id, who stays as they are for the rest of the transaction. */
export async function lockUser(query: Query, collection: Collection, id: string): Promise<User | undefined> {
  const [user] = await query<User>({
    text: `select ${selectUser(collection, 't')} from ${tableOf(collection)} t where t.id = $1::text for update`,
    values: [id],
  });
  return user;
}
