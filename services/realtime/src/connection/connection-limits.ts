import { AppError } from '@recordbus/errors';
import { clientKey } from '@recordbus/request/client-key';
import type { Principal, RequestContext } from '@recordbus/request/context';

/** How many connections one account and one address may have on this replica (realtime §1.6). */
interface Limits {
  readonly perPrincipal: number;
  readonly perAddress: number;
}

/** Counts open connections. */
export interface ConnectionLimits {
  /** Throws 429 if a caller has as many connections as allowed. */
  check(caller: Caller): void;
  /** Counts a connection. Returns a function that removes it from the count. */
  enter(caller: Caller): () => void;
  /** Counts a guest's connection for the account that signs in on it. Throws 429 beyond its limit. */
  enterAccount(principal: Principal): () => void;
}

type Caller = Pick<RequestContext, 'principal' | 'clientAddress'>;

export function createConnectionLimits(limits: () => Limits): ConnectionLimits {
  const counts = new Map<string, number>();

  function count(keys: readonly string[]): () => void {
    let isCounted = true;
    const add = (step: 1 | -1) => {
      for (const key of keys) {
        const connections = (counts.get(key) ?? 0) + step;
        if (connections > 0) counts.set(key, connections);
        else counts.delete(key);
      }
    };
    add(1);
    return () => {
      if (isCounted) add(-1);
      isCounted = false;
    };
  }

  function checkKey(key: string | undefined, whose: string, limit: number): void {
    if (key !== undefined && (counts.get(key) ?? 0) >= limit) throw tooMany(whose, limit);
  }

  const checkAccount = (principal: Principal) => checkKey(accountKey(principal), 'this account', limits().perPrincipal);

  return {
    check({ principal, clientAddress }) {
      checkKey(addressKey(clientAddress), 'this address', limits().perAddress);
      checkAccount(principal);
    },
    enter: ({ principal, clientAddress }) =>
      count([addressKey(clientAddress), accountKey(principal)].filter((key) => key !== undefined)),
    enterAccount(principal) {
      checkAccount(principal);
      return count([accountKey(principal)].filter((key) => key !== undefined));
    },
  };
}

const addressKey = (address: string): string => `address ${clientKey(address)}`;

const accountKey = (principal: Principal): string | undefined =>
  principal.type === 'guest'
    ? undefined
    : `account ${principal.type === 'user' ? principal.collection : principal.type} ${principal.id}`;

const tooMany = (whose: string, limit: number) =>
  new AppError(429, 'too_many_connections', `${whose} has ${limit} live connections already`, {
    headers: { 'Retry-After': '5' },
  });
