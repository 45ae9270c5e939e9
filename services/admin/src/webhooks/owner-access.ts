import type { Query } from '@recordbus/database';
import { malformedParameter, notFound, unauthenticated, validationFailed } from '@recordbus/errors';
import { authOf, callerCollection, compileExpression, createParameters, QueryError } from '@recordbus/query';
import type { Principal, RequestContext } from '@recordbus/request/context';
import { type CollectionCache, tableOf } from '@recordbus/schema';
import type { Settings } from '@recordbus/settings';
import { isPortalSession } from './portal-links.ts';
import type { Owner } from './webhook-owner.ts';

export interface OwnerAccessDeps {
  readonly query: Query;
  readonly collections: CollectionCache;
  readonly settings: Settings;
}

/** The header that carries the session of an opened portal (webhooks §10.3). */
export const portalHeader = 'x-portal-session';

/** A request for an owner's webhooks. */
interface OwnerRequest {
  readonly context: RequestContext;
  queryText(name: string): string | undefined;
  header(name: string): string | undefined;
}

/**
 * Returns the owner that a request names in `owner`, if the caller manages its webhooks (webhooks §9.6). Throws 401 for a
 * guest, and 404 for an owner that does not exist or that the caller does not manage.
 */
export async function requireManager(
  deps: OwnerAccessDeps,
  { context, queryText, header }: OwnerRequest,
): Promise<Owner> {
  const text = queryText('owner') ?? '';
  const [collection = '', id = '', ...rest] = text.split('/');
  if (id === '' || rest.length > 0) throw malformedParameter('owner', 'must be <collection>/<id>');
  const { principal } = context;
  const session = header(portalHeader);
  if (principal.type === 'guest' && session === undefined) throw unauthenticated();
  const owner = findOwner(deps, { collection, id });
  // A portal's session opens its owner and nothing else, even for an admin.
  if (session !== undefined && !(owner && (await isPortalSession(deps.query, session, owner))))
    throw unauthenticated('the portal session has ended, or is for another owner');
  const asUser = session === undefined && principal.type === 'user' ? principal : undefined;
  if (!owner || !(await manages(deps, owner, asUser))) throw notFound('owner');
  return owner;
}

/** Finds the owner, if records in its collection may own webhooks. Whether the record exists is not checked. */
function findOwner(
  { collections, settings }: Omit<OwnerAccessDeps, 'query'>,
  { collection: name, id }: { readonly collection: string; readonly id: string },
): Owner | undefined {
  const collection = collections.find(name);
  const owners = settings.getNamed('webhooks.owners.<collection>', name);
  return collection && owners && { collection, id, owners };
}

/** Throws 404 unless the record exists. */
export async function requireOwner(query: Query, { collection, id }: Pick<Owner, 'collection' | 'id'>): Promise<void> {
  const rows = await query({ text: `select id from ${tableOf(collection)} where id = $1`, values: [id] });
  if (rows.length === 0) throw notFound('owner');
}

/** Finds the owner that an admin names. Throws 422 if its records may not own webhooks. */
export function findGivenOwner(
  deps: Omit<OwnerAccessDeps, 'query'>,
  given: { readonly collection: string; readonly id: string },
): Owner {
  const owner = findOwner(deps, given);
  if (!owner)
    throw validationFailed({
      owner: `records in ${given.collection} may not own webhooks: set webhooks.owners.${given.collection}`,
    });
  return owner;
}

/** Whether the record exists, and the setting's `manage_rule` holds for it and the user, if there is one. */
async function manages(deps: OwnerAccessDeps, owner: Owner, user: Principal | undefined): Promise<boolean> {
  const parameters = createParameters();
  const id = parameters.fixed(owner.id, 'text');
  const rule = user ? compileManageRule(deps, owner, user, parameters) : 'true';
  const values = parameters.values({
    method: 'GET',
    auth: user && authOf(user),
    body: undefined,
    query: () => undefined,
    header: () => undefined,
  });
  const rows = await deps.query({
    text: `select o.id from ${tableOf(owner.collection)} o where o.id = ${id} and (${rule})`,
    values,
  });
  return rows.length > 0;
}

/** A rule that cannot be compiled now, or the empty one, admits no user. */
function compileManageRule(
  { collections }: OwnerAccessDeps,
  { collection, owners }: Owner,
  principal: Principal,
  parameters: ReturnType<typeof createParameters>,
): string {
  if (owners.manage_rule === '') return 'false';
  const schema = { findCollection: collections.find };
  const scope = { collection, schema, audience: 'rule', caller: callerCollection(principal, schema) } as const;
  try {
    return compileExpression(owners.manage_rule, scope, { row: 'o', parameters, isTable: true });
  } catch (error) {
    if (error instanceof QueryError) return 'false';
    throw error;
  }
}
