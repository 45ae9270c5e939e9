/** The scopes of service keys that name no collection (keys §3.1). */
export const fixedScopes = [
  'collections:read',
  'collections:apply',
  'webhooks:read',
  'webhooks:write',
  'settings:read',
  'settings:write',
  'files',
  'logs:read',
  'metrics:read',
  'users:impersonate',
  'admin',
] as const;

export type FixedScope = (typeof fixedScopes)[number];

/** The acts on records that a scope allows: reading, creating and changing, or deleting. */
export const recordActs = ['read', 'write', 'delete'] as const;

export type RecordAct = (typeof recordActs)[number];

/** The scopes that a route can declare for service keys (keys §4.1). */
export const routeScopes = [
  ...fixedScopes,
  /** The act, in the collection that the parameter `collection` of the path names. */
  'records:read',
  'records:write',
  'records:delete',
  /** A scope of records or rules in any collection. The route checks each collection that the request names. */
  'records',
  /** The rules of every collection, for routes with rules that belong to no collection. */
  'rules:*',
  /** Any key: the route shows only what everyone may see. */
  'any',
  /** No key: the route is about the account of a person, or about its sign-in. */
  'none',
] as const;

export type RouteScope = (typeof routeScopes)[number];
