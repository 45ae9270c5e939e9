import type { Query } from '@recordbus/database';
import { insertEvents, newValue, nowSec, originValues, selectRecord, withHistory } from '@recordbus/journal';
import {
  type Collection,
  type ColumnValues,
  explainRefusal,
  type FieldSealing,
  fieldTypeOf,
  quoteIdentifier,
  tableOf,
} from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { forbidden } from '@recordbus/shared/errors';
import { z } from 'zod';
import { type BeforeUserWrite, userFields } from './before-user-write.ts';
import { insertLink, oauthLink } from './oauth-link.ts';
import { readerOf } from './record-reader.ts';
import { selectUser, type User } from './user.ts';

/** A user who is to be made, as one service may tell another. */
export const newUser = z
  .object({
    id: z.string(),
    /** As in the body of a record; no password is among them. */
    fields: userFields,
    /** What the product gives by itself: it stands in place of what `fields` say, and need not fit the options. */
    given: userFields.optional(),
    /** Null for an account that no password opens. */
    passwordHash: z.string().nullable(),
    isAnonymous: z.boolean().optional(),
    /** Made with the user, who is not made when somebody is linked already. */
    link: oauthLink.optional(),
  })
  .readonly();
export type NewUser = z.infer<typeof newUser>;

/**
 * Makes a user, with the event (and the history row) of a record that is created; in a transaction. Undefined when
 * somebody else is linked. After the commit the bus is to be told (`notify('outbox')`). Throws 422 naming the fields that
 * are wrong or taken, 403 when somebody but an admin says that the address is verified.
 */
export async function createUser(
  query: Query,
  { sealing }: { readonly sealing: FieldSealing },
  collection: Collection,
  { id, fields, given = {}, passwordHash, isAnonymous = false, link }: NewUser,
  context: RequestContext,
  before?: BeforeUserWrite,
): Promise<User | undefined> {
  if (link && !(await insertLink(query, collection, id, link))) return undefined;
  const written = before ? await before(fields) : fields;
  if (!written) return undefined;
  const values = readerOf(collection).readNew(written, new Map(Object.entries(given)));
  if (values.get('verified') === true && context.principal.type !== 'admin') throw unproved();
  const stored = await sealing.storeSecrets(collection, values);
  return insertUser(query, collection, { id, passwordHash, isAnonymous, stored }, context);
}

/** 403 for somebody but an admin who says that an address is verified. */
export const unproved = () => forbidden('only admins may say that an address is verified');

interface UserRow {
  readonly id: string;
  readonly passwordHash: string | null;
  readonly isAnonymous: boolean;
  readonly stored: ColumnValues;
}

async function insertUser(
  query: Query,
  collection: Collection,
  { id, passwordHash, isAnonymous, stored }: UserRow,
  context: RequestContext,
): Promise<User> {
  const fields = collection.fields.map(({ name }) => stored.get(name) ?? null);
  const [user] = await query<User>({
    text: composeInsertUser(collection),
    values: [...originValues(context), id, passwordHash, isAnonymous, ...fields],
  }).catch(explainRefusal(collection));
  if (!user) throw new Error('the statement that makes a user gave no row');
  return user;
}

function composeInsertUser(collection: Collection): string {
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
