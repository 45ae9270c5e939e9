import { AppError } from '@recordbus/errors';
import type { Principal } from './context.ts';
import { type FixedScope, fixedScopes, type RecordAct, type RouteScope, recordActs } from './scope.ts';

/** A key's parsed scope. `collection` is a collection name, or `*` for all. */
export type Scope =
  | { readonly kind: 'fixed'; readonly scope: FixedScope }
  | { readonly kind: 'records'; readonly collection: string; readonly act: RecordAct }
  | { readonly kind: 'rules'; readonly collection: string };

/** The name in a scope that means every collection. */
export const everyCollection = '*';

const ofRecords = /^records:([^:\s]{1,100}):([a-z]{1,10})$/;
const ofRules = /^rules:([^:\s]{1,100})$/;

/** Parses a scope's text (keys §3.1); undefined for an unknown scope. */
export function readScope(text: string): Scope | undefined {
  if (text.length > 200) return undefined;
  const fixed = fixedScopes.find((scope) => scope === text);
  if (fixed) return { kind: 'fixed', scope: fixed };
  const [, rules] = ofRules.exec(text) ?? [];
  if (rules !== undefined) return { kind: 'rules', collection: rules };
  const [, collection, name] = ofRecords.exec(text) ?? [];
  const act = recordActs.find((one) => one === name);
  return collection === undefined || !act ? undefined : { kind: 'records', collection, act };
}

/** Returns a scope's text. */
export function writeScope(scope: Scope): string {
  if (scope.kind === 'fixed') return scope.scope;
  return scope.kind === 'rules' ? `rules:${scope.collection}` : `records:${scope.collection}:${scope.act}`;
}

/** How a key accesses a collection's records: past the rules, subject to them, or not at all. */
export type RecordRight = 'pass' | 'rules' | 'none';

/** The rights that a key's scopes give. */
export interface KeyRights {
  readonly isAdmin: boolean;
  /** Whether a scope includes this one. Writing and applying include reading. */
  has(scope: FixedScope): boolean;
  /** How the key accesses a collection's records, or any collection's for `*`. */
  recordRight(collection: string, act: RecordAct): RecordRight;
  /** Whether the key may access some collection's records. */
  readonly hasRecords: boolean;
  /** Equal for keys that access the same records in the same ways. */
  readonly recordScopes: readonly string[];
  /** The collections whose rules the key passes when it writes; undefined for all. */
  readonly collectionsToWrite: readonly string[] | undefined;
  /** Whether every collection's rules decide about the key. */
  readonly hasEveryRule: boolean;
}

/** For each scope that only reads, the scope that includes it. */
const wider: Readonly<Partial<Record<FixedScope, FixedScope>>> = {
  'collections:read': 'collections:apply',
  'webhooks:read': 'webhooks:write',
  'settings:read': 'settings:write',
};

/** Rights by the texts of their scopes. There are as many as there are different keys. */
const known = new Map<string, KeyRights>();
const maxKnown = 2000;

/** Returns the rights that scopes give. */
export function rightsOf(scopes: readonly string[]): KeyRights {
  const key = scopes.join(' ');
  const found = known.get(key);
  if (found) return found;
  const rights = readRights(scopes);
  if (known.size >= maxKnown) known.clear();
  known.set(key, rights);
  return rights;
}

function readRights(texts: readonly string[]): KeyRights {
  const scopes = texts.map(readScope).filter((scope) => scope !== undefined);
  const names = new Set(texts);
  const isAdmin = names.has('admin');
  const passes = (collection: string, act: RecordAct) =>
    names.has(`records:${collection}:${act}`) || (act === 'read' && names.has(`records:${collection}:write`));
  return {
    isAdmin,
    recordScopes: isAdmin ? ['admin'] : [...names].filter((text) => /^(records|rules):/.test(text)).sort(),
    collectionsToWrite:
      isAdmin || names.has(`records:${everyCollection}:write`)
        ? undefined
        : scopes.flatMap((it) => (it.kind === 'records' && it.act === 'write' ? [it.collection] : [])),
    hasEveryRule: names.has(`rules:${everyCollection}`),
    hasRecords: isAdmin || scopes.some(({ kind }) => kind !== 'fixed'),
    has: (scope) => isAdmin || names.has(scope) || names.has(wider[scope] ?? scope),
    recordRight(collection, act) {
      if (isAdmin || passes(everyCollection, act) || passes(collection, act)) return 'pass';
      return names.has(`rules:${everyCollection}`) || names.has(`rules:${collection}`) ? 'rules' : 'none';
    },
  };
}

/** Whether the caller is an admin, or a key with all an admin's rights. */
export const isAdmin = (principal: Principal): boolean =>
  principal.type === 'admin' || (principal.type === 'service' && rightsOf(principal.scopes).isAdmin);

/** 403: a key lacks a scope. */
export const scopeMissing = (scope: string) =>
  new AppError(403, 'scope_missing', `the service key has no scope ${scope}`);

/** A route's requirements for keys: its scope, and whether otherwise only admins may call it. */
interface KeyRoute {
  readonly scope: RouteScope;
  readonly access: string;
}

/**
 * Throws 403 when a key with these scopes may not call a route (keys §4.1). `collection` is the one that the path names.
 */
export function authorizeKey({ scope, access }: KeyRoute, scopes: readonly string[], collection = ''): void {
  const rights = rightsOf(scopes);
  if (!admits(rights, { scope, access }, collection))
    throw scope === 'none' ? notForKeys() : missing(scope, collection);
}

function admits(rights: KeyRights, { scope, access }: KeyRoute, collection: string): boolean {
  switch (scope) {
    case 'any':
      return true;
    case 'none':
      return false;
    case 'records':
      return rights.hasRecords;
    case 'rules:*':
      return rights.isAdmin || rights.hasEveryRule;
    case 'records:read':
    case 'records:write':
    case 'records:delete': {
      const right = rights.recordRight(collection, scope.slice('records:'.length) as RecordAct);
      // On a route for admins no rule decides, so a right that depends on rules is not enough.
      return right === 'pass' || (right === 'rules' && access !== 'admin');
    }
    default:
      return rights.has(scope);
  }
}

const notForKeys = () => new AppError(403, 'forbidden', "not for service keys: the route is about a person's account");

const missing = (scope: RouteScope, collection: string) =>
  scopeMissing(scope.startsWith('records:') ? scope.replace('records:', `records:${collection}:`) : scope);
