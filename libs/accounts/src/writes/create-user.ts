import type { Query } from '@recordbus/database';
import { refusedMembers } from '@recordbus/errors';
import { composeWrite, newValue, nowSec, type Origin, originOf } from '@recordbus/journal';
import { type FieldAccess, fieldAccess, openFields, type QuerySchema, refusedFieldsSql } from '@recordbus/query';
import type { Principal, RequestContext } from '@recordbus/request/context';
import {
  type Collection,
  type ColumnValues,
  explainRefusal,
  type FieldEncryption,
  fieldTypeOf,
  quoteIdentifier,
  withDefaults,
} from '@recordbus/schema';
import { z } from 'zod';
import { insertLink, oauthLink } from '../identity/links.ts';
import { refuseSignIn } from '../sign-in-rule.ts';
import { type BeforeUserWrite, readerOf, selectUser, type User, userFields } from '../user.ts';
import { verifiedIsForAdmins } from './read-new-account.ts';
import {
  compileSignUpRule,
  isSignUpChecked,
  refusedByRule,
  requestValuesOf,
  type SignUpCheck,
  type SignUpRequest,
  signUpRequest,
} from './sign-up.ts';

/** A user to create, in the form that services exchange. */
export const newUser = z
  .object({
    id: z.string(),
    /** The fields, as in a record's body, without a password. */
    fields: userFields,
    /** Values that the product sets. They replace those in `fields` and need not fit the fields' options. */
    given: userFields.optional(),
    /** Null for an account without a password. */
    passwordHash: z.string().nullable(),
    isAnonymous: z.boolean().optional(),
    /** The request values for the create rule and the fields' write rules; without them, no field is checked. */
    asked: signUpRequest.optional(),
    /** Whether the user signs in at once. No user is created whom the `sign_in_rule` refuses (auth §4.5). */
    signsIn: z.boolean().optional(),
    /** Created with the user. No user is created if the link exists. */
    link: oauthLink.optional(),
  })
  .readonly();
export type NewUser = z.infer<typeof newUser>;

/**
 * Creates a user, with a create's event and history row, in a transaction. Returns undefined when another user has the
 * link. After the commit the caller sends the notice `outbox`. Throws 422 naming the fields that are wrong or taken,
 * 403 when a caller who is not an admin sets `verified`, and 403 or 401 when the create rule, or the write rule on a
 * field that the client's body names, does not hold for the new account, or the sign-in rule for one who signs in; then
 * nothing is written.
 */
export async function createUser(
  query: Query,
  { encryption, schema }: { readonly encryption: FieldEncryption; readonly schema: QuerySchema },
  collection: Collection,
  { id, fields, given = {}, passwordHash, isAnonymous = false, asked, link, signsIn = false }: NewUser,
  context: RequestContext,
  before?: BeforeUserWrite,
): Promise<User | undefined> {
  const writes = writesOf(collection, asked, context.principal, schema);
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
  const access = writes.names.length > 0 ? writes.access : undefined;
  const checks = { schema, principal, hasCondition, access };
  const statement = composeInsertUser(collection, checks);
  const row = { id, passwordHash, isAnonymous, fields: stored, sent: writes.names };
  const [created] = await query<CreatedUser>({
    text: statement.text,
    checksRule: hasCondition || writes.names.length > 0,
    values: statement.valuesFrom({ ...originOf(context), ...row }, request),
  }).catch(explainRefusal(collection, stored.keys()));
  if (!created && hasCondition) throw refusedByRule(principal);
  if (!created) throw new Error('the statement that creates a user returned no row');
  const { unwritable = [], ...user } = created;
  if (unwritable.length > 0) throw refusedMembers(refusedByRule(principal), unwritable);
  if (signsIn) await refuseSignIn(query, { schema }, collection, id);
  return user;
}

interface CreatedUser extends User {
  /** The fields that the caller may not write. If there are any, nothing was written. */
  readonly unwritable?: readonly string[];
}

/**
 * The write rules for the client's body, and the names in it whose rule is evaluated. Throws 403 or 401 for fields that
 * the caller may never write.
 */
function writesOf(
  collection: Collection,
  asked: SignUpRequest | undefined,
  principal: Principal,
  schema: QuerySchema,
): { readonly access: FieldAccess; readonly names: readonly string[] } {
  if (!asked) return { access: openFields, names: [] };
  const access = fieldAccess('write', collection, principal, schema);
  const sent = Object.keys(asked.body);
  const closed = sent.filter((name) => access.closed.has(name));
  if (closed.length > 0) throw refusedMembers(refusedByRule(principal), closed);
  return { access, names: sent.filter((name) => access.conditional.has(name)) };
}

interface NewUserValues extends Origin {
  readonly id: string;
  readonly passwordHash: string | null;
  readonly isAnonymous: boolean;
  readonly fields: ColumnValues;
  /** The members in the client's body whose write rules are checked. */
  readonly sent: readonly string[];
}

interface SignUpChecks extends SignUpCheck {
  /** Whether the create rule is checked. */
  readonly hasCondition: boolean;
  /** The fields' write rules, if they are checked. */
  readonly access: FieldAccess | undefined;
}

/**
 * If the create rule does not hold, the statement returns no row. If a write rule does not hold, the statement writes
 * nothing and returns the fields' names.
 */
const composeInsertUser = (collection: Collection, { hasCondition, access, ...check }: SignUpChecks) =>
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
    const condition = hasCondition ? compileSignUpRule(collection, check, parameters) : 'true';
    if (!access) {
      const rows = hasCondition ? { columns, check: { where: condition } } : { columns };
      return {
        writes: [{ collection, verb: 'create', rows }],
        answer: `select ${selectUser(collection, 'new')} from new`,
      };
    }
    const names = parameters.named('sent', 'text[]');
    const refused = refusedFieldsSql({ collection, ...check, access, names }, { row: 'draft', parameters });
    const cte = {
      name: 'verdict',
      sql: `select ${refused} as unwritable from draft where ${condition}`,
      isMaterialized: true,
    };
    const rows = { columns, check: { cte, join: ` join verdict on verdict.unwritable = '{}'` } };
    return {
      writes: [{ collection, verb: 'create', rows }],
      answer: `select v.unwritable, u.* from verdict v left join (select ${selectUser(collection, 'new')} from new) u on true`,
    };
  });
