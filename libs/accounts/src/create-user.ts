import type { Query } from '@recordbus/database';
import { composeWrite, newValue, nowSec, type Origin, originOf } from '@recordbus/journal';
import type { QuerySchema } from '@recordbus/query';
import {
  type Collection,
  type ColumnValues,
  explainRefusal,
  type FieldEncryption,
  fieldTypeOf,
  quoteIdentifier,
  tableOf,
  withDefaults,
} from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import { forbidden } from '@recordbus/shared/errors';
import { z } from 'zod';
import { type BeforeUserWrite, userFields } from './before-user-write.ts';
import { insertLink, oauthLink } from './oauth-link.ts';
import { readerOf } from './record-reader.ts';
import { compileSignUpRule, isSignUpChecked, refusedByRule, type SignUpCheck } from './sign-up.ts';
import { requestValuesOf, signUpRequest } from './sign-up-request.ts';
import { selectUser, type User } from './user.ts';

/** A user to create, in the form that services exchange. */
export const newUser = z
  .object({
    id: z.string(),
    /** The fields, as in the body of a record, without a password. */
    fields: userFields,
    /** Values that the product sets. They replace those of `fields` and need not fit the options of the fields. */
    given: userFields.optional(),
    /** Null for an account without a password. */
    passwordHash: z.string().nullable(),
    isAnonymous: z.boolean().optional(),
    /** The request values for the create rule; only the fields when left out. */
    asked: signUpRequest.optional(),
    /** Created with the user. No user is created if the link exists. */
    link: oauthLink.optional(),
  })
  .readonly();
export type NewUser = z.infer<typeof newUser>;

/**
 * Creates a user, with the event and history row of a create, in a transaction. Returns undefined when another user has
 * the link. After the commit the caller sends the notice `outbox`. Throws 422 naming the fields that are wrong or
 * taken, 403 when a caller who is not an admin sets `verified`, and 403 or 401 when the create rule does not hold for
 * the account as it would be stored; then nothing is written.
 */
export async function createUser(
  query: Query,
  { encryption, schema }: { readonly encryption: FieldEncryption; readonly schema: QuerySchema },
  collection: Collection,
  { id, fields, given = {}, passwordHash, isAnonymous = false, asked, link }: NewUser,
  context: RequestContext,
  before?: BeforeUserWrite,
): Promise<User | undefined> {
  if (link && !(await insertLink(query, collection, id, link))) return undefined;
  const { principal } = context;
  const set = new Map(Object.entries(given));
  const complete = withDefaults(collection, fields, { principal, given: set });
  const written = before ? await before(complete) : complete;
  if (!written) return undefined;
  const values = await readerOf(collection).readNew(written, set);
  if (given.verified !== true && values.get('verified') === true && principal.type !== 'admin')
    throw verifiedIsForAdmins();
  const stored = await encryption.storeSecrets(collection, values);
  const request = requestValuesOf(asked ?? { body: fields, query: {}, headers: {} }, principal);
  const hasCondition = isSignUpChecked(collection, principal);
  const statement = composeInsertUser(collection, hasCondition ? { schema, principal } : undefined);
  const [user] = await query<User>({
    text: statement.text,
    checksRule: hasCondition,
    values: statement.valuesFrom({ ...originOf(context), id, passwordHash, isAnonymous, fields: stored }, request),
  }).catch(explainRefusal(collection));
  if (!user && hasCondition) throw refusedByRule(principal);
  if (!user) throw new Error('the statement that creates a user returned no row');
  return user;
}

/** 403 for a caller who is not an admin and sets `verified`. */
export const verifiedIsForAdmins = () => forbidden('only admins may mark an address as verified');

interface NewUserValues extends Origin {
  readonly id: string;
  readonly passwordHash: string | null;
  readonly isAnonymous: boolean;
  readonly fields: ColumnValues;
}

/** With a check the create rule has to hold; where it does not hold, the statement returns no row. */
const composeInsertUser = (collection: Collection, check: SignUpCheck | undefined) =>
  composeWrite<NewUserValues>((parameters) => {
    const columns = [
      { name: 'id', value: parameters.named('id', 'text') },
      { name: 'created_at', value: nowSec },
      { name: 'updated_at', value: nowSec },
      { name: 'password_hash', value: parameters.named('passwordHash', 'text') },
      { name: 'is_anonymous', value: parameters.named('isAnonymous', 'boolean') },
      ...collection.fields.map((field) => ({
        name: quoteIdentifier(field.name),
        value: newValue(field, parameters.member('fields', field.name, fieldTypeOf(field).columnType(field))),
      })),
    ];
    const draft = columns.map(({ name, value }) => `${value} as ${name}`).join(', ');
    const condition = check && ` where ${compileSignUpRule(collection, check, parameters)}`;
    const write = `insert into ${tableOf(collection)} (${columns.map(({ name }) => name).join(', ')})
  select draft.* from (select ${draft}) draft${condition ?? ''}
  returning *`;
    return {
      writes: [{ collection, verb: 'create', write }],
      answer: `select ${selectUser(collection, 'new')} from new`,
    };
  });
