import { signUpClosed } from '@recordbus/accounts';
import { AppError, methodNotAllowed, notFound } from '@recordbus/errors';
import type { Principal } from '@recordbus/request/context';
import type { Collection, CollectionCache, RuleName } from '@recordbus/schema';
import type { Settings } from '@recordbus/settings';
import { authorize, isOpenTo } from '../rules/authorize.ts';
import { requireFreshSignIn } from '../rules/fresh-sign-in.ts';
import { collectionFor } from '../rules/key-collections.ts';
import { retryWhileOutdated } from './retry-outdated.ts';

/** A request for an action on a collection's records. */
interface Request {
  readonly collection: string;
  /** Several actions if only the write finds out which one it is. */
  readonly action: RuleName | readonly RuleName[];
  readonly principal: Principal;
  /** Whether the work itself decides, although the action's rule is closed. */
  readonly isOpenAnyway?: (collection: Collection) => boolean;
}

/** The collections, as requests use them. */
export interface ServedCollections {
  /** Returns a collection's name for its name or alias, and any other text as it is. */
  nameOf(nameOrAlias: string): string;
  /**
   * Throws 404 for an unknown collection, 405 for a write on a view, 403 or 401 for a closed rule or sign-up, 403 for a
   * write after an old sign-in, in this order. If there are several actions, one admitted action is enough. Only an
   * unknown collection takes a promise.
   */
  admit(request: Request): Collection | Promise<Collection>;
  /** The other collections with accounts. */
  otherAuthCollections(collection: Collection): readonly Collection[];
  /** Throws 403 or 401 if the action's rule, or sign-up, is closed to the caller. */
  requireAction(collection: Collection, action: RuleName, principal: Principal): void;
  /**
   * Admits the request and runs its work. When a database error shows that the schema has changed since it was loaded,
   * the schema is loaded and the work is run again, up to 8 times. So the work must have no effects when it throws.
   */
  serve<T>(request: Request, work: (collection: Collection) => Promise<T>): Promise<T>;
  /** Serves several requests together like `serve`. The work gets those up to the first one that is refused. */
  serveAll<T>(requests: readonly Request[], work: (admitted: Admitted) => Promise<T>): Promise<T>;
}

/** The requests' collections in their order, up to the first request that is refused. */
export interface Admitted {
  readonly collections: readonly Collection[];
  /** The refusal for the request after them; undefined when all are admitted. */
  readonly refusal: AppError | undefined;
}

const reading = new Set<RuleName>(['list', 'view']);

/** Creates requests' access to the cached collections. */
export function createServedCollections(
  cache: CollectionCache,
  settings: Pick<Settings, 'getNamed'>,
): ServedCollections {
  function admit(request: Request): Collection | Promise<Collection> {
    const found = cache.find(request.collection);
    return found ? admitTo(found, request) : reloadAndFind(request.collection).then((late) => admitTo(late, request));
  }
  function admitTo(found: Collection | undefined, { action, principal, isOpenAnyway }: Request): Collection {
    if (!found) throw notFound('collection');
    const collection = collectionFor(principal, found);
    const [first, ...others] = typeof action === 'string' ? [action] : action;
    if (first === undefined) throw new Error('a request needs an action');
    if (collection.type === 'view' && !reading.has(first))
      throw methodNotAllowed('GET, HEAD', 'a view collection is read-only');
    if (!isOpenAnyway?.(collection) && !others.some((other) => isAdmitted(collection, other, principal)))
      requireAction(collection, first, principal);
    if (!reading.has(first)) requireFreshSignIn(collection, principal);
    return collection;
  }
  function requireAction(collection: Collection, action: RuleName, principal: Principal): void {
    authorize(collection.rules[action], principal);
    if (action === 'create' && isClosed(collection, principal)) throw signUpClosed();
  }
  const isAdmitted = (collection: Collection, action: RuleName, principal: Principal): boolean =>
    (collection.rules[action] !== '' || isOpenTo(collection.rules[action], principal)) &&
    !(action === 'create' && isClosed(collection, principal));

  const isClosed = ({ type, name }: Collection, principal: Principal): boolean =>
    type === 'auth' &&
    principal.type !== 'admin' &&
    principal.type !== 'service' &&
    settings.getNamed('auth.sign_up.<collection>', name) === 'closed';

  /** Loads the collections again: a client may use a new collection before its notice arrives here. */
  async function reloadAndFind(name: string): Promise<Collection | undefined> {
    await cache.reload();
    return cache.find(name);
  }

  async function admitAll(requests: readonly Request[]): Promise<Admitted> {
    const collections: Collection[] = [];
    for (const request of requests) {
      try {
        collections.push(await admit(request));
      } catch (error) {
        if (error instanceof AppError) return { collections, refusal: error };
        throw error;
      }
    }
    return { collections, refusal: undefined };
  }

  return {
    nameOf: cache.nameOf,
    otherAuthCollections: ({ id }) => cache.all().filter((one) => one.type === 'auth' && one.id !== id),
    admit,
    requireAction,
    serve: (request, work) => retryWhileOutdated({ cache, load: () => admit(request), isUnchanged: Object.is }, work),
    serveAll: (requests, work) =>
      retryWhileOutdated({ cache, load: () => admitAll(requests), isUnchanged: isSame }, work),
  };
}

const isSame = (a: Admitted, b: Admitted): boolean =>
  a.collections.length === b.collections.length &&
  a.collections.every((collection, n) => collection === b.collections[n]);
