import { inSlices } from '@recordbus/limits/time-slice';
import type { Logger } from '@recordbus/process/logging';
import type { Principal } from '@recordbus/request/context';
import { type Accounts, type ServicePrincipal, sessionOf } from '@recordbus/sessions';
import type { Connection } from '../connection/connection.ts';
import { endForReconnect } from '../connection/end-for-reconnect.ts';
import { messages, type RevokedReason } from '../messages/messages.ts';

/** Ends connections whose rights have ended (realtime §5.1). */
export interface SessionWatch {
  start(): void;
  stop(): void;
  /** Watches a connection from now on. Call it before anything is sent to it. */
  add(connection: Connection): void;
  delete(connection: Connection): void;
  /** Looks up a connection's session. Ends the connection if the session has ended or cannot be looked up. */
  check(connection: Connection): Promise<void>;
}

interface SessionWatchDeps {
  readonly accounts: Pick<Accounts, 'findPrincipal' | 'onRevoked' | 'keys'>;
  readonly log: Logger;
}

/** A timer's longest time (2³¹ − 1 ms). Later ends are checked again then. */
const longestTimerMs = 2_147_483_647;

export function createSessionWatch({ accounts, log }: SessionWatchDeps): SessionWatch {
  /** Connections by their accounts' and sessions' ids. */
  const bySubject = new Map<string, Set<Connection>>();
  const timers = new Map<Connection, NodeJS.Timeout>();
  let endListening = () => {};

  const revoke = (connection: Connection, reason: RevokedReason) => connection.end('revoked', messages.revoked(reason));

  async function lookUp(connection: Connection): Promise<void> {
    const { principal } = connection;
    if (principal.type === 'service') return checkKey(connection, principal);
    const session = sessionOf(principal);
    if (!session) return;
    const current = await accounts.findPrincipal(session);
    if (connection.isEnded || connection.principal !== principal) return;
    if (!current || current.type === 'guest') revoke(connection, reasonOfEnd(principal));
    else if (!isSame(principal, current)) revoke(connection, 'account_changed');
  }

  /** If a key's scopes have changed, its rights have too, and its client must connect again. */
  async function checkKey(connection: Connection, principal: ServicePrincipal): Promise<void> {
    const current = await accounts.keys.find(principal.id);
    if (connection.isEnded) return;
    if (!current) revoke(connection, reasonOfEnd(principal));
    else if (!isSameKey(principal, current)) revoke(connection, 'account_changed');
  }

  async function check(connection: Connection): Promise<void> {
    try {
      await lookUp(connection);
    } catch (error) {
      // It is not known whether the session is still valid, so the client must connect through the gateway again.
      log.warn({ err: error }, 'a session cannot be looked up: its live connection is closed');
      endForReconnect(connection);
    }
  }

  async function checkAll(connections: Iterable<Connection>): Promise<void> {
    for await (const connection of inSlices([...connections])) await check(connection);
  }

  function expireLater(connection: Connection): void {
    const { principal } = connection;
    if (principal.type === 'guest' || principal.expiresAtSec === undefined) return;
    const leftMs = principal.expiresAtSec * 1000 - Date.now();
    const expire = () => (leftMs > longestTimerMs ? expireLater(connection) : revoke(connection, 'token_expired'));
    timers.set(connection, setTimeout(expire, Math.max(Math.min(leftMs, longestTimerMs), 0)).unref());
  }

  return {
    start() {
      endListening = accounts.onRevoked((subjects) => {
        const all =
          subjects === 'all' ? bySubject.values() : [...subjects].map((subject) => bySubject.get(subject) ?? []);
        void checkAll(new Set([...all].flatMap((connections) => [...connections])));
      });
    },
    stop() {
      endListening();
      for (const timer of timers.values()) clearTimeout(timer);
    },
    add(connection) {
      for (const subject of subjectsOf(connection.principal)) {
        const connections = bySubject.get(subject) ?? new Set();
        bySubject.set(subject, connections.add(connection));
      }
      expireLater(connection);
    },
    delete(connection) {
      for (const subject of subjectsOf(connection.principal)) {
        bySubject.get(subject)?.delete(connection);
        if (bySubject.get(subject)?.size === 0) bySubject.delete(subject);
      }
      clearTimeout(timers.get(connection));
      timers.delete(connection);
    },
    check,
  };
}

const subjectsOf = (principal: Principal): readonly string[] =>
  principal.type === 'guest'
    ? []
    : [principal.id, ...('sessionId' in principal && principal.sessionId ? [principal.sessionId] : [])];

/**
 * The reason when an account, a session or a key is not found any more. The look-up may come before its expiry timer.
 */
const reasonOfEnd = (principal: Principal): RevokedReason =>
  principal.type !== 'guest' && principal.expiresAtSec !== undefined && principal.expiresAtSec * 1000 <= Date.now()
    ? 'token_expired'
    : 'session_ended';

/** Whether a key still has the same rights. */
const isSameKey = (a: ServicePrincipal, b: ServicePrincipal): boolean =>
  a.scopes.join(' ') === b.scopes.join(' ') && a.expiresAtSec === b.expiresAtSec;

/** Whether rules see the same account. */
function isSame(a: Principal, b: Principal): boolean {
  if (a.type === 'user' && b.type === 'user')
    return a.email === b.email && a.verified === b.verified && a.anonymous === b.anonymous;
  return a.type === 'admin' && b.type === 'admin' && a.email === b.email;
}
