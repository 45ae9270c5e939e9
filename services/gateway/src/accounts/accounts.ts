import type { Bus } from '@recordbus/bus';
import { type Database, mapDatabaseError } from '@recordbus/database';
import type { Principal } from '@recordbus/shared/context';
import type { Logger } from '@recordbus/shared/logging';
import type { Session } from '@recordbus/tokens';
import { LRUCache } from 'lru-cache';
import { type AccountState, findAccountState } from './account-state.ts';
import { createRevocationFeed } from './revocation-feed.ts';
import { createSessionUse } from './session-use.ts';

/** What the accounts of tokens are now, so that a token ends with its account, its password or its session. */
export interface Accounts {
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * Who the holder of a session is now; undefined when the session has ended: the account is gone or has another token
   * version, or it was signed out. Of sessions that ended because an anonymous user was promoted a guest is known who
   * says so. What another replica committed counts here within a second, with the bus or without.
   * Throws 503 when the database does not answer.
   */
  findPrincipal(session: Session): Promise<Principal | undefined>;
}

interface AccountsDeps {
  readonly database: Database;
  readonly bus: Pick<Bus, 'onNotice'>;
  readonly log: Logger;
}

/** Sessions that are remembered; each takes some 300 bytes. */
const maxKnown = 20_000;

interface Known {
  readonly principal: Principal;
  /** What the feed had told when it was looked up. */
  readonly mark: number;
}

/** Makes them: each session is looked up once, and again when something about it was revoked. */
export function createAccounts({ database, bus, log }: AccountsDeps): Accounts {
  const feed = createRevocationFeed({ database, bus, log });
  const use = createSessionUse({ database, log });
  const known = new LRUCache<string, Known>({ max: maxKnown });

  async function lookUp(session: Session): Promise<Principal | undefined> {
    // Taken before the question: what is told while it is asked makes the answer old.
    const mark = feed.mark();
    const state = await findAccountState(database.read, session);
    const principal = state && principalOf(session, state);
    if (principal) known.set(keyOf(session), { principal, mark });
    return principal;
  }

  return {
    async start() {
      await feed.start();
      use.start();
    },
    async stop() {
      await feed.stop();
      await use.stop();
    },
    async findPrincipal(session) {
      try {
        if (!feed.isFresh()) await feed.refresh();
        const { principal, sessionId } = session;
        const found = known.get(keyOf(session));
        const isGood = found && !feed.hasTold(found.mark, principal.id, sessionId);
        const now = isGood ? found.principal : await lookUp(session);
        if (now && sessionId) use.note(sessionId);
        return now;
      } catch (error) {
        throw mapDatabaseError(error) ?? error;
      }
    },
  };
}

/** Everything of a token that the answer depends on. */
const keyOf = ({ principal, tokenVersion, sessionId = '', expiresAtSec }: Session): string =>
  principal.type === 'admin'
    ? `${principal.id} ${tokenVersion} ${sessionId} ${expiresAtSec}`
    : `${principal.id} ${tokenVersion} ${sessionId} ${expiresAtSec} ${principal.impersonatedBy ?? ''} ${principal.collection}`;

const promoted: Principal = { type: 'guest', rejectedToken: true, isPromoted: true };

function principalOf(session: Session, state: AccountState): Principal | undefined {
  const { principal, tokenVersion, sessionId, expiresAtSec } = session;
  if (state.tokenVersion !== tokenVersion || (sessionId && !state.hasSession))
    return principal.type === 'user' && principal.anonymous && !state.isAnonymous ? promoted : undefined;
  const { email } = state;
  return principal.type === 'admin'
    ? { ...principal, email, sessionId, expiresAtSec }
    : { ...principal, email, anonymous: state.isAnonymous, sessionId, expiresAtSec };
}
