import type { Bus } from '@recordbus/bus';
import { type Database, mapDatabaseError } from '@recordbus/database';
import type { Logger } from '@recordbus/process/logging';
import type { Principal } from '@recordbus/request/context';
import type { Session } from '@recordbus/tokens';
import { LRUCache } from 'lru-cache';
import { type AccountState, findAccountState } from './account-state.ts';
import { createKeyRing, type KeyRing } from './keys/key-ring.ts';
import { createRevocationFeed, type RevokedSubjects } from './revocation-feed.ts';

/** Checks that a token's account and session still exist and still match it. */
export interface Accounts {
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * Returns a session's principal; undefined when the session has ended: the account is deleted, its token version
   * differs, or the session was signed out. A session that ended because its anonymous user was promoted yields a guest
   * with `isPromoted`. Changes by other replicas take effect within a second, with or without the bus. Throws 503 when
   * the database does not answer.
   */
  findPrincipal(session: Session): Promise<Principal | undefined>;
  /**
   * Calls the listener with the accounts and sessions whose principals may have changed or ended, within a second after
   * the change. Look up with `findPrincipal` whether one has. Returns a function that removes the listener.
   */
  onRevoked(listener: (subjects: RevokedSubjects) => void): () => void;
  /** The service keys. */
  readonly keys: KeyRing;
}

interface AccountsDeps {
  readonly database: Pick<Database, 'read' | 'onFailover'>;
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly log: Logger;
}

/** How many sessions are cached; each takes about 300 bytes. */
const maxCachedSessions = 20_000;

interface CachedPrincipal {
  readonly principal: Principal;
  /** The revocation feed's mark before the lookup. */
  readonly mark: number;
}

/** Creates the account cache. Each session is looked up once, and again after it or its account is revoked. */
export function createAccounts({ database, bus, log }: AccountsDeps): Accounts {
  const feed = createRevocationFeed({ database, bus, log });
  const cache = new LRUCache<string, CachedPrincipal>({ max: maxCachedSessions });

  async function lookUp(session: Session): Promise<Principal | undefined> {
    // Taken before the query, since a revocation that arrives during the query makes its result stale.
    const mark = feed.mark();
    const state = await findAccountState(database.read, session);
    const principal = state && principalOf(session, state);
    if (principal) cache.set(keyOf(session), { principal, mark });
    return principal;
  }

  return {
    start: feed.start,
    stop: feed.stop,
    onRevoked: feed.onRevoked,
    keys: createKeyRing({ database, feed }),
    async findPrincipal(session) {
      try {
        if (!feed.isFresh()) await feed.refresh();
        const { principal, sessionId } = session;
        const cached = cache.get(keyOf(session));
        const isCurrent = cached && !feed.revokedSince(cached.mark, principal.id, sessionId);
        return isCurrent ? cached.principal : await lookUp(session);
      } catch (error) {
        throw mapDatabaseError(error) ?? error;
      }
    },
  };
}

/** The cache key: everything in a token that the principal depends on. */
const keyOf = ({ principal, tokenVersion, sessionId = '', expiresAtSec }: Session): string =>
  principal.type === 'admin'
    ? `${principal.id} ${tokenVersion} ${sessionId} ${expiresAtSec}`
    : `${principal.id} ${tokenVersion} ${sessionId} ${expiresAtSec} ${principal.impersonatedBy ?? ''} ${principal.collection}`;

const promoted: Principal = { type: 'guest', rejectedToken: true, isPromoted: true };

function principalOf(session: Session, state: AccountState): Principal | undefined {
  const { principal, tokenVersion, sessionId, expiresAtSec } = session;
  if (state.tokenVersion !== tokenVersion || (sessionId && !state.hasSession))
    return principal.type === 'user' && principal.anonymous && !state.isAnonymous ? promoted : undefined;
  const { email, isAnonymous: anonymous, isVerified: verified, factors, signedInAtSec } = state;
  const claims = { sessionId, tokenVersion, expiresAtSec };
  return principal.type === 'admin'
    ? { ...principal, email, ...claims }
    : { ...principal, email, anonymous, verified, factors, signedInAtSec, ...claims };
}
