import { createHash, randomBytes } from 'node:crypto';
import type { Query } from '@recordbus/database';
import { AppError, malformedParameter } from '@recordbus/errors';
import type { EnabledProvider } from './oauth-providers.ts';
import { keepVerifier, takeVerifier, type VerifierKey } from './pkce-rows.ts';

/** oauth §2.4 */
const lifetimeSec = 10 * 60;

interface VerifierScope {
  readonly collectionId: string;
  readonly provider: Pick<EnabledProvider, 'name' | 'pkce'>;
  readonly redirectUri: string;
  readonly nowSec: number;
}

/** Authorize's PKCE parameters: the caller's own challenge, or the request to keep the verifier. */
interface ChallengeChoice {
  readonly state: string;
  readonly usePkce: boolean;
  readonly codeChallenge: string | undefined;
}

/** Returns the challenge for the authorize URL (oauth §2.4); stores the verifier unless the caller keeps it. */
export async function chooseChallenge(
  query: Query,
  scope: VerifierScope,
  { state, usePkce, codeChallenge }: ChallengeChoice,
): Promise<string | undefined> {
  const { provider, nowSec } = scope;
  if (provider.pkce === 'never') return undefined;
  if (codeChallenge !== undefined) return codeChallenge;
  if (!usePkce && provider.pkce !== 'always') return undefined;
  const verifier = randomBytes(32).toString('base64url');
  const kept = await keepVerifier(query, keyOf(scope, state), { verifier, nowSec, lifetimeSec });
  return createHash('sha256').update(kept).digest('base64url');
}

/** Exchange's PKCE members: the caller's own verifier, or the state under which the service keeps one. */
interface VerifierChoice {
  readonly state: string | undefined;
  readonly codeVerifier: string | undefined;
}

/**
 * Returns the verifier for the code; undefined when no challenge was sent. Throws 401 for a state whose verifier is
 * used, expired, or belongs to another provider or redirect, 400 when a required state is missing (oauth §3.3).
 */
export async function chooseVerifier(
  query: Query,
  scope: VerifierScope,
  { state, codeVerifier }: VerifierChoice,
): Promise<string | undefined> {
  const { provider, nowSec } = scope;
  if (provider.pkce === 'never') return undefined;
  if (codeVerifier !== undefined) return codeVerifier;
  if (state === undefined) {
    if (provider.pkce !== 'always') return undefined;
    throw malformedParameter('state', 'is required by this provider');
  }
  const taken = await takeVerifier(query, keyOf(scope, state), nowSec);
  if (taken === 'spent' || (taken === 'unknown' && provider.pkce === 'always')) throw invalidState();
  return taken === 'unknown' ? undefined : taken.verifier;
}

const keyOf = ({ collectionId, provider, redirectUri }: VerifierScope, state: string): VerifierKey => ({
  collectionId,
  state,
  provider: provider.name,
  redirectUri,
});

const invalidState = () =>
  new AppError(401, 'invalid_state', 'the state is used, expired, or belongs to another provider or redirect');
