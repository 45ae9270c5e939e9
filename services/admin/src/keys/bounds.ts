import type { Query } from '@recordbus/database';
import { type Cidr, isWithin } from '@recordbus/egress/cidr';
import { AppError, unauthenticated } from '@recordbus/shared/errors';
import { rightsOf, scopeMissing } from '@recordbus/shared/key-rights';
import type { Actor } from '../audit/actor.ts';
import { type NewKey, rangesOf } from './key-schema.ts';
import { getKey } from './key-store.ts';

/**
 * Throws 403 when a key would have more rights than the calling key: other scopes, a later expiry, or other networks
 * (keys §1.5). Admins and operators have no bounds. The transaction locks the calling key.
 */
export async function requireWithinBounds(query: Query, { context }: Actor, made: NewKey): Promise<void> {
  if (context === 'system' || context.principal.type !== 'service') return;
  const maker = await getKey(query, context.principal.id, 'for share').catch(() => {
    throw unauthenticated('the service key is not valid');
  });
  if (!rightsOf(maker.scopes).isAdmin) throw scopeMissing('admin');
  if (maker.expires_at !== null && (made.expires_at === null || made.expires_at > maker.expires_at))
    throw beyond(`the key must end by ${maker.expires_at}, like the one that makes it`);
  const own = rangesOf(maker.allowed_cidrs);
  if (own.length > 0 && !areWithin(rangesOf(made.allowed_cidrs), own))
    throw beyond(`the key must be for networks within ${maker.allowed_cidrs.join(', ')}, like the one that makes it`);
}

/** An empty list means all networks. */
const areWithin = (inner: readonly Cidr[], outer: readonly Cidr[]): boolean =>
  inner.length > 0 && inner.every((one) => outer.some((range) => isWithin(one, range)));

const beyond = (message: string) => new AppError(403, 'beyond_own_rights', message);
