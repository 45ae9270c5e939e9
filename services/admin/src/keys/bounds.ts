import type { Query } from '@recordbus/database';
import { type Cidr, isWithin } from '@recordbus/egress/cidr';
import { AppError, unauthenticated } from '@recordbus/errors';
import { rightsOf, scopeMissing } from '@recordbus/request/key-rights';
import type { Actor } from '../audit/actor.ts';
import { type KeyJson, type NewKey, rangesOf } from './key-schema.ts';
import { getKey } from './key-store.ts';

/**
 * Throws 403 when a key would have more rights than the calling key: other scopes, a later expiry, or other networks
 * (keys §1.5). Admins and operators have no bounds. The transaction locks the calling key.
 */
export async function requireWithinBounds(query: Query, { context }: Actor, made: NewKey): Promise<void> {
  const maker = await findCallingKey(query, context);
  if (!maker) return;
  if (!rightsOf(maker.scopes).isAdmin) throw scopeMissing('admin');
  if (maker.expires_at !== null && (made.expires_at === null || made.expires_at > maker.expires_at))
    throw beyond(`the key must end by ${maker.expires_at}, like the one that makes it`);
  const own = rangesOf(maker.allowed_cidrs);
  if (own.length > 0 && !areWithin(rangesOf(made.allowed_cidrs), own))
    throw beyond(`the key must be for networks within ${maker.allowed_cidrs.join(', ')}, like the one that makes it`);
}

/**
 * Throws 403 when the calling key has an end or networks: an admin has neither, so one that the key creates, or whose
 * password it sets, would outlive the key (keys §1.5). The transaction locks the calling key.
 */
export async function requireUnbounded(query: Query, { context }: Actor): Promise<void> {
  const caller = await findCallingKey(query, context);
  if (caller && (caller.expires_at !== null || caller.allowed_cidrs.length > 0))
    throw beyond('a service key with an end or networks cannot create or change admins, who have neither');
}

/** The setting that decides which address counts as the client's. */
const trustedProxies = 'security.trusted_proxies';

/**
 * Throws 403 when a key with networks changes the trusted proxies: it could then claim any address. The transaction locks
 * the calling key.
 */
export async function requireOwnNetworks(query: Query, { context }: Actor, keys: readonly string[]): Promise<void> {
  if (!keys.includes(trustedProxies)) return;
  const caller = await findCallingKey(query, context);
  if (caller && caller.allowed_cidrs.length > 0)
    throw beyond(`a service key with networks cannot change ${trustedProxies}`);
}

/** Finds and locks the calling key; undefined for admins and operators. Throws 401 for a key that is gone. */
async function findCallingKey(query: Query, context: Actor['context']): Promise<KeyJson | undefined> {
  if (context === 'system' || context.principal.type !== 'service') return undefined;
  return getKey(query, context.principal.id, 'for share').catch(() => {
    throw unauthenticated('the service key is not valid');
  });
}

/** An empty list means all networks. */
const areWithin = (inner: readonly Cidr[], outer: readonly Cidr[]): boolean =>
  inner.length > 0 && inner.every((one) => outer.some((range) => isWithin(one, range)));

const beyond = (message: string) => new AppError(403, 'scope_exceeded', message);
