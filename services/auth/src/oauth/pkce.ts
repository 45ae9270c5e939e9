import { createHash, randomBytes } from 'node:crypto';
import type { Query } from '@recordbus/database';
import { AppError, malformed } from '@recordbus/shared/errors';
import type { EnabledProvider } from './oauth-providers.ts';
import { keepVerifier, takeVerifier, type VerifierKey } from './pkce-rows.ts';

/** Interface §3.4. */
const lifetimeSec = 10 * 60;

interface Where {
  readonly collectionId: string;
  readonly provider: Pick<EnabledProvider, 'name' | 'pkce'>;
  readonly redirectUri: string;
  readonly nowSec: number;
}

/** What the caller of authorize wants; their own challenge, or that we keep the verifier. */
interface Wish {
  readonly state: string;
  readonly usePkce: boolean;
  readonly codeChallenge: string | undefined;
}

/** The challenge that the authorize URL carries (interface §5, PKCE); a verifier is kept where it is ours. */
export async function chooseChallenge(query: Query, where: Where, wish: Wish): Promise<string | undefined> {
  const { provider, nowSec } = where;
  if (provider.pkce === 'never') return undefined;
  if (wish.codeChallenge !== undefined) return wish.codeChallenge;
  if (!wish.usePkce && provider.pkce !== 'always') return undefined;
  const verifier = randomBytes(32).toString('base64url');
  const kept = await keepVerifier(query, keyOf(where, wish.state), { verifier, nowSec, lifetimeSec });
  return createHash('sha256').update(kept).digest('base64url');
}

/** What the caller of exchange gives: their own verifier, or the state under which ours is kept. */
interface Proof {
  readonly state: string | undefined;
  readonly codeVerifier: string | undefined;
}

/**
 * The verifier that goes with the code; none where no challenge was sent. Throws 401 for a state whose verifier is used
 * up, out of time, or of another provider or redirect, 400 when nothing says where to find one that is needed.
 */
export async function chooseVerifier(query: Query, where: Where, proof: Proof): Promise<string | undefined> {
  const { provider, nowSec } = where;
  if (provider.pkce === 'never') return undefined;
  if (proof.codeVerifier !== undefined) return proof.codeVerifier;
  if (proof.state === undefined) {
    if (provider.pkce !== 'always') return undefined;
    throw malformed('state: is required by this provider', { state: 'is required by this provider' });
  }
  const taken = await takeVerifier(query, keyOf(where, proof.state), nowSec);
  if (taken === 'spent' || (taken === 'unknown' && provider.pkce === 'always')) throw invalidState();
  return taken === 'unknown' ? undefined : taken.verifier;
}

const keyOf = ({ collectionId, provider, redirectUri }: Where, state: string): VerifierKey => ({
  collectionId,
  state,
  provider: provider.name,
  redirectUri,
});

const invalidState = () =>
  new AppError(401, 'invalid_state', 'the state is used, expired, or of another provider or redirect');
