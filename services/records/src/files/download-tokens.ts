import type { Query } from '@recordbus/database';
import { type Collection, needsToken } from '@recordbus/schema';
import type { Principal, RequestContext } from '@recordbus/shared/context';
import { AppError, forbidden, unauthenticated } from '@recordbus/shared/errors';
import type { FileToken, FileTokenMinter, FileTokens, SessionPrincipal } from '@recordbus/tokens';
import type { FileName, FoundFile } from './find-file.ts';
import { findMinterState } from './token-minters.ts';
import { isUsed, useToken } from './used-tokens.ts';

interface DownloadTokenDeps {
  readonly query: Query;
  readonly findCollection: (name: string) => Collection | undefined;
  readonly tokens: FileTokens;
  /** For how long a new token is good, in seconds. */
  readonly windowSec: () => number;
}

/** The tokens that open protected files: made by `POST /api/v1/files/token`, presented as `?token=` (contract §3). */
export interface DownloadTokens {
  /** The token in a URL, if it is one and is for this file. */
  read(text: string | undefined, collection: Pick<Collection, 'name'>, file: FileName): Promise<FileToken | undefined>;
  /**
   * For whom a request asks: an admin for themselves, else whoever minted its token. Throws 401 when that account is gone
   * or has another password by now.
   */
  principalOf(context: RequestContext, token: FileToken | undefined): Promise<Principal>;
  /** Throws 401, 403 or 410 where the field asks for a token that is not there or is no good; nothing is used up. */
  check(found: FoundFile, token: FileToken | undefined, context: RequestContext): Promise<void>;
  /** Uses up a one-time token: of any number of requests at once one passes, the others get 410. */
  use(found: FoundFile, token: FileToken | undefined, context: RequestContext): Promise<void>;
  /** Makes a token for a file that the caller may have. */
  mint(collection: Collection, file: FileName, found: FoundFile, context: RequestContext): Promise<MintedToken>;
}

interface MintedToken {
  readonly token: string;
  readonly expiresAtSec: number;
}

/** Makes the minter and judge of download tokens. */
export function createDownloadTokens({ query, findCollection, tokens, windowSec }: DownloadTokenDeps): DownloadTokens {
  return {
    async read(text, { name }, { recordId, filename }) {
      const token = text ? await tokens.verify(text) : undefined;
      const isForFile =
        token?.collectionId === findCollection(name)?.id && token?.recordId === recordId && token.filename === filename;
      return isForFile ? token : undefined;
    },

    async principalOf({ principal }, token) {
      if (principal.type === 'admin' || !token?.minter) return principal;
      const { minter } = token;
      const state = await findMinterState(query, minter, findCollection);
      if (state?.tokenVersion === minter.tokenVersion && state.isSessionAlive) return minter;
      throw unauthenticated('the token is not valid');
    },

    async check({ options }, token, { principal, clientAddress }) {
      if (principal.type === 'admin' || !needsToken(options)) return;
      if (!token) throw unauthenticated('a valid file token is required');
      if (options.bindTokenIp && !token.admits(clientAddress))
        throw forbidden('the token is for another address', 'token_address_mismatch');
      if (options.oneTimeToken && (await isUsed(query, token))) throw usedUp();
    },

    async use({ options }, token, { principal }) {
      if (principal.type === 'admin' || !options.oneTimeToken || !token) return;
      if (!(await useToken(query, token))) throw usedUp();
    },

    async mint(collection, file, { options }, { principal, clientAddress }) {
      return tokens.sign({
        collectionId: collection.id,
        ...file,
        minter: principal.type === 'guest' ? null : await asMinter(principal),
        ...(options.bindTokenIp && { boundTo: clientAddress }),
        windowSec: windowSec(),
      });
    },
  };

  /** An admin who acts as a user does so only in their session; others' tokens outlive being signed out. */
  async function asMinter(principal: SessionPrincipal): Promise<FileTokenMinter> {
    const { sessionId, expiresAtSec: _, ...known } = principal;
    const state = await findMinterState(query, known, findCollection);
    if (!state) throw unauthenticated();
    const isActing = known.type === 'user' && known.impersonatedBy !== null;
    return { ...known, ...(isActing && { sessionId }), tokenVersion: state.tokenVersion };
  }
}

const usedUp = () => new AppError(410, 'token_used', 'the token was used already');
