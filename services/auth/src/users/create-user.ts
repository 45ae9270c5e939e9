import { newId, type Query } from '@recordbus/database';
import { insertEvents, newValue, nowSec, originValues, selectRecord, withHistory } from '@recordbus/journal';
import {
  type Collection,
  type ColumnValues,
  explainRefusal,
  fieldTypeOf,
  quoteIdentifier,
  tableOf,
} from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import type { AuthParts } from '../auth-parts.ts';
import { selectUser, type User } from './user.ts';

export interface NewUser {
  /** A new id when not given; give one where the address is made of it. */
  readonly id?: string;
  /** The fields as `RecordReader.readNew` read them, `email` and `verified` among them. */
  readonly values: ColumnValues;
  /** Null for an account that no password opens. */
  readonly passwordHash: string | null;
  readonly isAnonymous?: boolean;
}

/**
 * Makes a user with the event (and the history row) of a record that is created, in one statement. After the commit
 * the bus is to be told (`notify('outbox')`). Throws 422 naming a field whose value is taken.
 */
export async function createUser(
  query: Query,
  { sealing }: Pick<AuthParts, 'sealing'>,
  collection: Collection,
  { id = newId(), values, passwordHash, isAnonymous = false }: NewUser,
  context: RequestContext,
): Promise<User> {
  const stored = await sealing.storeSecrets(collection, values);
  const fields = collection.fields.map(({ name }) => stored.get(name) ?? null);
  const [user] = await query<User>({
    text: composeCreateUser(collection),
    values: [...originValues(context), id, passwordHash, isAnonymous, ...fields],
  }).catch(explainRefusal(collection));
  if (!user) throw new Error('the statement that makes a user gave no row');
  return user;
}

function composeCreateUser(collection: Collection): string {
  const columns = collection.fields.map(({ name }) => `, ${quoteIdentifier(name)}`);
  const values = collection.fields.map(
    (field, index) => `, ${newValue(field, `$${8 + index}::${fieldTypeOf(field).columnType(field)}`)}`,
  );
  return `with new as (
  insert into ${tableOf(collection)} (id, created_at, updated_at, password_hash, is_anonymous${columns.join('')})
  values ($5::text, ${nowSec}, ${nowSec}, $6::text, $7::boolean${values.join('')})
  returning *
), shown as materialized (
  ${selectRecord(collection, 'new')}
), event as (
  ${insertEvents({ collection, verb: 'create', source: 'shown' })}
)${withHistory({ collection, verb: 'create', source: 'new' })}
select ${selectUser(collection, 'new')} from new`;
}
