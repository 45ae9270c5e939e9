import { isTokenUsed, type Query, useToken } from '@recordbus/database';
import { AppError, forbidden, unauthenticated } from '@recordbus/errors';
import type { Principal, RequestContext } from '@recordbus/request/context';
import { isAdmin } from '@recordbus/request/key-rights';
import { type Collection, needsToken } from '@recordbus/schema';
import type { FileToken, FileTokens } from '@recordbus/tokens';
import type { FileName, FoundFile } from './find-file.ts';
import { getMinter, principalOfMinter, type TokenHolder } from './token-minters.ts';

interface DownloadTokenDeps {
  readonly query: Query;
  readonly findCollection: (name: string) => Collection | undefined;
  readonly tokens: FileTokens;
  /** How long a new token is valid, in seconds. */
  readonly windowSec: () => number;
}

/** The tokens for protected files: created by `POST /api/v1/files/token`, sent as `?token=` (files §6). */
export interface DownloadTokens {
  /** Reads a URL's token; undefined for an invalid token, or one for another file. */
  read(text: string | undefined, collection: Pick<Collection, 'name'>, file: FileName): Promise<FileToken | undefined>;
  /**
   * Returns a download's principal: the admin who requests it, or else its token's minter, or else the caller. Throws
   * 401 when the minter's account is gone or has another password.
   */
  principalOf(context: RequestContext, token: FileToken | undefined): Promise<Principal>;
  /** Throws 401 when the field requires a token, or one for this file alone, and the request has none. */
  require(found: FoundFile, token: FileToken | undefined, context: RequestContext): void;
  /** Throws 403 for a token that is bound to another address, and 410 for a used one. Does not use up the token. */
  check(found: FoundFile, token: FileToken | undefined, context: RequestContext): Promise<void>;
  /** Uses up a one-time token. When requests come at the same time, exactly one succeeds; the others get 410. */
  use(found: FoundFile, token: FileToken | undefined, context: RequestContext): Promise<void>;
  /** Creates a token for a file that the caller may have. */
  mint(collection: Collection, file: FileName, found: FoundFile, context: RequestContext): Promise<MintedToken>;
  /** Creates a token for every file that the caller may see (files §6.2). Throws 401 for a guest. */
  mintForAll(context: RequestContext): Promise<MintedToken>;
}

export interface MintedToken {
  readonly token: string;
  readonly expiresAtSec: number;
}

/** Creates the service for download tokens. */
export function createDownloadTokens({ query, findCollection, tokens, windowSec }: DownloadTokenDeps): DownloadTokens {
  const minterOf = (principal: TokenHolder, endsWithSession: boolean) =>
    getMinter(query, principal, endsWithSession, findCollection);

  return {
    async read(text, { name }, { recordId, filename }) {
      const token = text ? await tokens.verify(text) : undefined;
      const { file } = token ?? {};
      const isForFile =
        file === null ||
        (file?.collectionId === findCollection(name)?.id && file?.recordId === recordId && file.filename === filename);
      return isForFile ? token : undefined;
    },

    async principalOf({ principal }, token) {
      if (isAdmin(principal) || !token?.minter) return principal;
      const minter = await principalOfMinter(query, token.minter, findCollection);
      if (!minter) throw unauthenticated('the token is not valid');
      return minter;
    },

    require({ options, isPassed }, token, { principal }) {
      if (isExempt(principal, isPassed) || !needsToken(options)) return;
      if (!token) throw unauthenticated('a valid file token is required');
      if (!token.file && (options.oneTimeToken || options.bindTokenIp))
        throw unauthenticated('this file needs its own token');
    },

    async check({ options, isPassed }, token, { principal, clientAddress }) {
      if (isExempt(principal, isPassed) || !token || !needsToken(options)) return;
      if (options.bindTokenIp && !token.admits(clientAddress))
        throw forbidden('the token is for another address', 'token_address_mismatch');
      if (options.oneTimeToken && (await isTokenUsed(query, token))) throw usedUp();
    },

    async use({ options, isPassed }, token, { principal }) {
      if (isExempt(principal, isPassed) || !options.oneTimeToken || !token) return;
      if (!(await useToken(query, token))) throw usedUp();
    },

    async mint(collection, file, { options }, { principal, clientAddress }) {
      return tokens.sign({
        file: { collectionId: collection.id, ...file },
        minter: principal.type === 'guest' ? null : await minterOf(principal, isImpersonated(principal)),
        ...(options.bindTokenIp && { boundTo: clientAddress }),
        windowSec: windowSec(),
      });
    },

    async mintForAll({ principal }) {
      if (principal.type === 'guest') throw unauthenticated();
      return tokens.sign({ file: null, minter: await minterOf(principal, true), windowSec: windowForAllSec });
    },
  };
}

/** Whether the caller needs no token: an admin, or a key that passes the rules. */
const isExempt = (principal: Principal, isPassed: boolean): boolean =>
  isAdmin(principal) || (principal.type === 'service' && isPassed);

/**
 * Whether an admin acts as the user. Then a token for one file ends with the session; other tokens outlive it (files
 * §6.3).
 */
const isImpersonated = (principal: TokenHolder): boolean =>
  principal.type === 'user' && principal.impersonatedBy !== null;

/** How long a token for every file is valid, in seconds (files §6.2). */
const windowForAllSec = 180;

const usedUp = () => new AppError(410, 'token_used', 'the token was already used');
