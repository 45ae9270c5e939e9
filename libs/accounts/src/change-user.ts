import type { Query } from '@recordbus/database';
import {
  autodateAssignments,
  insertEvents,
  nextUpdatedAt,
  nowSec,
  originValues,
  selectChange,
  withHistory,
} from '@recordbus/journal';
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
import { z } from 'zod';
import { auditUser, userActions } from './audit-user.ts';
import { type BeforeUserWrite, userFields } from './before-user-write.ts';
import { closeOtherWaysIn } from './close-other-ways-in.ts';
import { finishOneTimeToken } from './one-time-token.ts';
import { readerOf } from './record-reader.ts';
import { selectUser, type User } from './user.ts';

/** What must be true of the user when the change is made, or nothing is changed. */
const condition = z
  .object({
    /** The address, whatever its case. */
    email: z.string().optional(),
    isAnonymous: z.boolean().optional(),
    tokenVersion: z.int().optional(),
  })
  .readonly();

/** What becomes of a user, as one service may tell another; what is left out stays. */
export const userChange = z
  .object({
    id: z.string(),
    /** As in the body of a record; no password is among them. */
    fields: userFields.optional(),
    /** A new password (null: none opens the account any more): all tokens and sessions so far end. */
    passwordHash: z.string().nullable().optional(),
    isAnonymous: z.boolean().optional(),
    /**
     * Closes whatever else opens the account, since whoever made it may have been somebody else than who has just proved
     * that the address is theirs (contract §4, pre-hijacking).
     */
    closesOtherWaysIn: z.boolean().optional(),
    condition: condition.optional(),
    /** Hash of the one-time token that the change uses up; without it nothing is changed. */
    tokenHash: z.string().optional(),
    /** As what it is audited, if it is. */
    audit: z.enum(userActions).optional(),
    userAgent: z.string().optional(),
  })
  .readonly();
export type UserChange = z.infer<typeof userChange>;

/**
 * Changes a user, with the event (and the history row) of a record that is changed; in a transaction, which is to be
 * taken back when this gives undefined: there is no such user, the condition does not hold, or the token is used up.
 * After the commit the bus is to be told (`notify('outbox')`). Throws 422 naming the fields that are wrong or taken.
 */
export async function changeUser(
  query: Query,
  { sealing }: { readonly sealing: FieldSealing },
  collection: Collection,
  change: UserChange,
  context: RequestContext,
  before?: BeforeUserWrite,
): Promise<User | undefined> {
  const { id, fields = {}, tokenHash, audit, userAgent } = change;
  if (tokenHash !== undefined && !(await finishOneTimeToken(query, tokenHash))) return undefined;
  const written = before ? await before(fields) : fields;
  if (!written) return undefined;
  if (change.closesOtherWaysIn) await closeOtherWaysIn(query, id);
  const stored = await sealing.storeSecrets(collection, readerOf(collection).readChange(written));
  const user = await updateUser(query, collection, change, stored, context);
  if (user && audit) await auditUser(query, audit, collection, id, { context, userAgent });
  return user;
}

async function updateUser(
  query: Query,
  collection: Collection,
  change: UserChange,
  stored: ColumnValues,
  context: RequestContext,
): Promise<User | undefined> {
  const { id, condition = {} } = change;
  const fixed = [
    ...originValues(context),
    id,
    condition.email ?? null,
    condition.isAnonymous ?? null,
    condition.tokenVersion ?? null,
  ];
  const written = writtenColumns(collection, change, stored);
  const [user] = await query<User>({
    text: composeUpdateUser(
      collection,
      written.map(({ column, type }, index) => `${column} = $${fixed.length + 1 + index}::${type}, `).join('') +
        otherAssignments(collection, change, stored),
    ),
    values: [...fixed, ...written.map(({ value }) => value)],
  }).catch(explainRefusal(collection));
  return user;
}

/** The columns whose values are values of the statement. */
const writtenColumns = (
  collection: Collection,
  { passwordHash, closesOtherWaysIn, isAnonymous }: UserChange,
  stored: ColumnValues,
) => [
  ...collection.fields
    .filter(({ name }) => stored.has(name))
    .map((field) => ({
      column: quoteIdentifier(field.name),
      type: fieldTypeOf(field).columnType(field),
      value: stored.get(field.name),
    })),
  ...(passwordHash !== undefined || closesOtherWaysIn
    ? [{ column: 'password_hash', type: 'text', value: passwordHash ?? null }]
    : []),
  ...(isAnonymous === undefined ? [] : [{ column: 'is_anonymous', type: 'boolean', value: isAnonymous }]),
];

/** What is set beside them, each with a comma behind it. */
function otherAssignments(collection: Collection, change: UserChange, stored: ColumnValues): string {
  const fields = collection.fields.filter(({ name }) => !stored.has(name));
  const assignments = [autodateAssignments({ ...collection, fields })];
  if (change.passwordHash !== undefined || change.closesOtherWaysIn)
    assignments.push(`password_reset_at = ${nowSec}, token_version = t.token_version + 1, `);
  if (change.closesOtherWaysIn) assignments.push('totp_secret = null, totp_enabled = false, totp_last_step = null, ');
  return assignments.join('');
}

const composeUpdateUser = (collection: Collection, assignments: string): string =>
  `with old as materialized (
  select t.* from ${tableOf(collection)} t where t.id = $5::text for update
), new as (
  update ${tableOf(collection)} t set ${assignments}updated_at = ${nextUpdatedAt('t')}
  from old where t.id = old.id
    and ($6::text is null or lower(old.email) = lower($6::text))
    and ($7::boolean is null or old.is_anonymous = $7::boolean)
    and ($8::integer is null or old.token_version = $8::integer)
  returning t.*
), shown as materialized (
  ${selectChange(collection, 'new', 'old')}
), event as (
  ${insertEvents({ collection, verb: 'update', source: 'shown' })}
)${withHistory({ collection, verb: 'update', source: 'new' })}
select ${selectUser(collection, 'new')} from new`;
