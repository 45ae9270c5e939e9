import { createHash } from 'node:crypto';
import type { Query } from '@recordbus/database';
import type { ProviderName } from './provider.ts';

/** The request to which a verifier belongs. */
export interface VerifierKey {
  readonly collectionId: string;
  readonly state: string;
  readonly provider: ProviderName;
  readonly redirectUri: string;
}

const hashOf = (state: string): string => createHash('sha256').update(state).digest('hex');

/**
 * Stores a verifier and returns the valid one. A repeated request, such as a browser's prefetch, gets the earlier
 * verifier.
 */
export async function keepVerifier(
  query: Query,
  { collectionId, state, provider, redirectUri }: VerifierKey,
  { verifier, nowSec, lifetimeSec }: { verifier: string; nowSec: number; lifetimeSec: number },
): Promise<string> {
  const [row] = await query<{ verifier: string }>({
    text: `insert into system.oauth_states as s
        (collection_id, state_hash, provider, redirect_uri, verifier, expires_at) values ($1, $2, $3, $4, $5, $7)
      on conflict (collection_id, state_hash) do update set
        verifier = case
          when s.used_at is null and s.expires_at > $6 and s.provider = $3 and s.redirect_uri = $4 then s.verifier
          else $5 end,
        provider = $3, redirect_uri = $4, used_at = null, expires_at = $7
      returning verifier`,
    values: [collectionId, hashOf(state), provider, redirectUri, verifier, nowSec, nowSec + lifetimeSec],
  });
  return row?.verifier ?? verifier;
}

/** Uses up a verifier; one of several parallel calls gets it. `unknown`: no challenge was sent, so none was stored. */
export async function takeVerifier(
  query: Query,
  { collectionId, state, provider, redirectUri }: VerifierKey,
  nowSec: number,
): Promise<{ readonly verifier: string } | 'spent' | 'unknown'> {
  const values = [collectionId, hashOf(state)];
  const [taken] = await query<{ verifier: string }>({
    text: `update system.oauth_states set used_at = $5
      where collection_id = $1 and state_hash = $2 and provider = $3 and redirect_uri = $4
        and used_at is null and expires_at > $5
      returning verifier`,
    values: [...values, provider, redirectUri, nowSec],
  });
  if (taken) return taken;
  const known = await query({
    text: 'select 1 from system.oauth_states where collection_id = $1 and state_hash = $2',
    values,
  });
  return known.length > 0 ? 'spent' : 'unknown';
}
