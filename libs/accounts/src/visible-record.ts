import type { Query } from '@recordbus/database';
import {
  authOf,
  createNamedParameters,
  type FieldRight,
  fieldAccess,
  type QuerySchema,
  refusedFieldsSql,
} from '@recordbus/query';
import type { Principal } from '@recordbus/request/context';
import { type Collection, type FieldEncryption, tableOf } from '@recordbus/schema';
import type { User } from './user.ts';

interface VisibleDeps {
  readonly encryption: FieldEncryption;
  readonly schema: QuerySchema;
}

/** The caller's session, as far as rules read it (rules §4.1). */
type SessionValues = Pick<Extract<Principal, { type: 'user' }>, 'factors' | 'signedInAtSec'>;

/** Returns a user's record as the user may view it in the session (fields §5.3), decrypted. */
export async function visibleRecord(
  query: Query,
  { encryption, schema }: VisibleDeps,
  collection: Collection,
  user: User,
  session: SessionValues,
): Promise<Readonly<Record<string, unknown>>> {
  const refused = await findRefusedFields(query, 'view', collection, { ...user, ...session }, schema);
  const record = Object.fromEntries(Object.entries(user.record).filter(([name]) => !refused.has(name)));
  await encryption.decryptRecord(collection, record);
  return record;
}

/**
 * Finds the fields in a user's own record that the user may not view or write (fields §5). Only expressions cost a
 * statement.
 */
export async function findRefusedFields(
  query: Query,
  right: FieldRight,
  collection: Collection,
  user: User & SessionValues,
  schema: QuerySchema,
): Promise<ReadonlySet<string>> {
  const principal = principalOf(collection, user);
  const access = fieldAccess(right, collection, principal, schema);
  if (access.conditional.size === 0) return access.closed;
  const parameters = createNamedParameters<{ readonly id: string }>();
  const names = refusedFieldsSql({ collection, schema, principal, access }, { row: 't', parameters, isTable: true });
  const text = `select ${names} as names from ${tableOf(collection)} t where t.id = ${parameters.named('id', 'text')}`;
  const values = parameters.valuesFrom({ id: user.id }, requestOf(principal));
  const [row] = await query<{ names: string[] }>({ text, values });
  return new Set([...access.closed, ...(row?.names ?? access.conditional.keys())]);
}

const principalOf = (
  { name: collection }: Collection,
  { id, email, isAnonymous: anonymous, verified, factors, signedInAtSec }: User & SessionValues,
): Principal => ({
  type: 'user',
  id,
  email,
  collection,
  anonymous,
  verified,
  factors,
  signedInAtSec,
  impersonatedBy: null,
});

/** What rules see in the request: the user as caller, without a body, a query or headers. */
const requestOf = (principal: Principal) => ({
  method: 'GET',
  auth: authOf(principal),
  body: undefined,
  query: () => undefined,
  header: () => undefined,
});
