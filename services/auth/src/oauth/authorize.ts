import type { Collection } from '@recordbus/schema';
import type { OauthParts } from './oauth-parts.ts';
import { chooseChallenge } from './pkce.ts';

export interface AuthorizeRequest {
  readonly provider: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly usePkce: boolean;
  readonly codeChallenge: string | undefined;
}

/** Returns the URL at a provider where the browser signs in (oauth §2). Throws 422 for a provider that is not enabled. */
export async function authorize(
  { database, oauth, nowSec }: Pick<OauthParts, 'database' | 'oauth' | 'nowSec'>,
  collection: Collection,
  { provider: name, redirectUri, state, usePkce, codeChallenge: theirs }: AuthorizeRequest,
): Promise<string> {
  const provider = await oauth.get(name);
  const where = { collectionId: collection.id, provider, redirectUri, nowSec: nowSec() };
  const codeChallenge = await chooseChallenge(database.query, where, { state, usePkce, codeChallenge: theirs });
  return provider.authorizeUrl({ redirectUri, state, codeChallenge });
}
