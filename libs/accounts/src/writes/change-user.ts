import type { Query } from '@recordbus/database';
import { autodates, type ColumnSql, composeWrite, lockedRow, nowSec, type Origin, originOf } from '@recordbus/journal';
import type { NamedParameters, QuerySchema } from '@recordbus/query';
import type { RequestContext } from '@recordbus/request/context';
import {
  type Collection,
  type ColumnValues,
  explainRefusal,
  type FieldEncryption,
  fieldTypeOf,
  quoteIdentifier,
} from '@recordbus/schema';
import { z } from 'zod';
import { finishOneTimeToken } from '../access.ts';
import { auditUser, userActions } from '../audit.ts';
import { noteRemovedWays, type RemovedWays } from '../identity/account-changes.ts';
import { type ClosedWays, closedBy, closeWaysIn } from '../identity/close-ways-in.ts';
import { lockAccount } from '../identity/locked-account.ts';
import { disableLaterUndos, endUnprovedUndos, undone } from '../identity/undone-change.ts';
import { refuseSignIn } from '../sign-in-rule.ts';
import { type BeforeUserWrite, readerOf, selectUser, type User, userFields } from '../user.ts';

/** What must hold for the user at the change, or nothing is changed. */
const condition = z
  .object({
    /** The address, ignoring case. */
    email: z.string().optional(),
    isAnonymous: z.boolean().optional(),
    isVerified: z.boolean().optional(),
    tokenVersion: z.int().optional(),
  })
  .readonly();

/** A change to a user, as services exchange it. What is left out stays. */
export const userChange = z
  .object({
    id: z.string(),
    /** The fields, as in a record's body, without a password. */
    fields: userFields.optional(),
    /** Values that the product sets. They replace those in `fields` and need not fit the fields' options. */
    given: userFields.optional(),
    /** A new password's hash, or null to remove the password. Ends all earlier tokens and sessions. */
    passwordHash: z.string().nullable().optional(),
    isAnonymous: z.boolean().optional(),
    /** Set when the change signs the user in: if the `sign_in_rule` refuses the changed account, nothing is changed. */
    signsIn: z.boolean().optional(),
    /**
     * Set when a reset, a code or a provider first proves the address: removes every other way into the account, since
     * another person may have created it (identity §2.2). Has no effect on a proved address.
     */
    closesOtherWaysIn: z.boolean().optional(),
    /**
     * Set for the first proof by the verification link: removes all ways in but password and sessions (identity §2.3).
     */
    closesAttached: z.boolean().optional(),
    /** Ends all tokens and sessions, even without a new password. */
    endsSessions: z.boolean().optional(),
    /** Set when the link to a new address confirms it: undo links to addresses that were not proved end. */
    confirmsEmail: z.boolean().optional(),
    /** The address change that is undone, with all later ones. */
    undoes: undone.optional(),
    condition: condition.optional(),
    /** The hash of the one-time token that the change uses up. If the token is gone, nothing is changed. */
    tokenHash: z.string().optional(),
    /** The audit row's action, if it has one. */
    audit: z.enum(userActions).optional(),
    userAgent: z.string().optional(),
  })
  .readonly();
export type UserChange = z.infer<typeof userChange>;

/** A user after a change, and what the change removed from the account. */
export interface ChangedUser {
  readonly user: User;
  readonly removed: RemovedWays['removed'];
}

/**
 * Changes a user, with an update's event and history row, in a transaction. Returns undefined when the user does not
 * exist, the condition does not hold, or the token is used up: the caller then rolls back. After the commit the caller
 * sends the notices `outbox` and `accounts`. Throws 422 naming the fields that are wrong or taken, and 403 for a sign-in that
 * the `sign_in_rule` refuses.
 */
export async function changeUser(
  query: Query,
  { encryption, schema }: { readonly encryption: FieldEncryption; readonly schema: QuerySchema },
  collection: Collection,
  change: UserChange,
  context: RequestContext,
  before?: BeforeUserWrite,
): Promise<ChangedUser | undefined> {
  const { id, fields = {}, given = {}, tokenHash, audit, userAgent, undoes } = change;
  const held = await lockAccount(query, collection, id);
  if (!held) return undefined;
  if (tokenHash !== undefined && !(await finishOneTimeToken(query, tokenHash))) return undefined;
  const written = before ? await before(fields) : fields;
  if (!written) return undefined;
  const closed = closedBy(change, held);
  const ways = await closeWaysIn(query, id, closed, held, undoes?.changedAtSec ?? 0);
  const values = new Map([...(await readerOf(collection).readChange(written)), ...Object.entries(given)]);
  const stored = await encryption.storeSecrets(collection, values);
  const user = await updateUser(query, collection, { change, closed, stored }, context);
  if (!user) return undefined;
  if (change.signsIn) await refuseSignIn(query, { schema }, collection, id);
  if (undoes) await disableLaterUndos(query, id, undoes);
  if (change.confirmsEmail) await endUnprovedUndos(query, id);
  if (ways.removed.length > 0) await noteRemovedWays(query, collection, user, ways);
  const origin = { context, userAgent };
  if (audit) await auditUser(query, audit, collection, id, origin, ways.removed.length > 0 ? { ...ways } : {});
  else if (ways.removed.length > 0) await auditUser(query, 'users.first_proof', collection, id, origin, { ...ways });
  return { user, removed: ways.removed };
}

/** The values to write to a user's row. */
interface Write {
  readonly change: UserChange;
  readonly closed: ClosedWays;
  readonly stored: ColumnValues;
}

async function updateUser(
  query: Query,
  collection: Collection,
  write: Write,
  context: RequestContext,
): Promise<User | undefined> {
  const { id, condition = {}, passwordHash, isAnonymous } = write.change;
  const statement = composeUpdateUser(collection, write);
  const [user] = await query<User>({
    text: statement.text,
    values: statement.valuesFrom({
      ...originOf(context),
      id,
      ifEmail: condition.email ?? null,
      ifAnonymous: condition.isAnonymous ?? null,
      ifTokenVersion: condition.tokenVersion ?? null,
      ifVerified: condition.isVerified ?? null,
      fields: write.stored,
      passwordHash: passwordHash ?? null,
      isAnonymous: isAnonymous ?? null,
    }),
  }).catch(explainRefusal(collection, write.stored.keys()));
  return user;
}

interface ChangeValues extends Origin {
  readonly id: string;
  readonly ifEmail: string | null;
  readonly ifAnonymous: boolean | null;
  readonly ifTokenVersion: number | null;
  readonly ifVerified: boolean | null;
  readonly fields: ColumnValues;
  readonly passwordHash: string | null;
  readonly isAnonymous: boolean | null;
}

type Parameters = NamedParameters<ChangeValues>;

/** The given values' columns. */
function givenColumns(parameters: Parameters, collection: Collection, { change, closed, stored }: Write): ColumnSql[] {
  const fields = collection.fields.filter(({ name }) => stored.has(name));
  const columns = fields.map((field) => ({
    name: quoteIdentifier(field.name),
    value: parameters.member('fields', field.name, fieldTypeOf(field).columnType(field)),
  }));
  if (change.passwordHash !== undefined || closed.password)
    columns.push({ name: 'password_hash', value: parameters.named('passwordHash', 'text') });
  if (change.isAnonymous !== undefined)
    columns.push({ name: 'is_anonymous', value: parameters.named('isAnonymous', 'boolean') });
  return columns;
}

/** The columns whose values follow from the change. */
function otherColumns(collection: Collection, { change, closed, stored }: Write): ColumnSql[] {
  const fields = collection.fields.filter(({ name }) => !stored.has(name));
  const columns = [...autodates({ ...collection, fields })];
  const setsPassword = change.passwordHash !== undefined || closed.password;
  if (setsPassword) columns.push({ name: 'password_reset_at', value: nowSec });
  if (setsPassword || change.endsSessions) columns.push({ name: 'token_version', value: 't.token_version + 1' });
  if (closed.factor)
    columns.push(
      { name: 'totp_secret', value: 'null' },
      { name: 'totp_enabled', value: 'false' },
      { name: 'totp_last_step', value: 'null' },
    );
  return columns;
}

const composeUpdateUser = (collection: Collection, write: Write) =>
  composeWrite<ChangeValues>((parameters) => {
    const id = parameters.named('id', 'text');
    const email = parameters.named('ifEmail', 'text');
    const isAnonymous = parameters.named('ifAnonymous', 'boolean');
    const tokenVersion = parameters.named('ifTokenVersion', 'integer');
    const isVerified = parameters.named('ifVerified', 'boolean');
    const set = [...givenColumns(parameters, collection, write), ...otherColumns(collection, write)];
    const conditions = `
    and (${email} is null or lower(old.email) = lower(${email}))
    and (${isAnonymous} is null or old.is_anonymous = ${isAnonymous})
    and (${tokenVersion} is null or old.token_version = ${tokenVersion})
    and (${isVerified} is null or old.verified = ${isVerified})`;
    return {
      before: [lockedRow(collection, id)],
      writes: [{ collection, verb: 'update', rows: { set, conditions } }],
      answer: `select ${selectUser(collection, 'new')} from new`,
    };
  });
