import { recordAudit } from '@recordbus/audit';
import type { Database } from '@recordbus/database';
import { authOf, createParameters } from '@recordbus/query';
import {
  type Collection,
  type Field,
  type FileOptions,
  fileOptionsOf,
  needsToken,
  quoteIdentifier,
  quoteLiteral,
  tableOf,
} from '@recordbus/schema';
import type { Principal, RequestContext } from '@recordbus/shared/context';
import { AppError, forbidden, notFound, unauthenticated } from '@recordbus/shared/errors';
import type { Logger } from '@recordbus/shared/logging';
import { type FileKey, fileKey, type Storage } from '@recordbus/storage';
import type { FileToken, FileTokenMinter, FileTokens, SessionPrincipal } from '@recordbus/tokens';
import { isRecordId } from '../record/record-id.ts';
import { ruleRefusal } from '../rules/authorise.ts';
import { type Asking, compileCondition, compileRule } from '../rules/compile-rule.ts';
import { perCollection, prepare } from '../sql/prepared.ts';
import { fileFieldsOf } from './file-changes.ts';
import { createThumbs, type Thumbs } from './thumbs.ts';
import { createTypes, type Types } from './types.ts';
import { isUsed, useToken } from './used-tokens.ts';

interface DownloadDeps {
  readonly database: Pick<Database, 'query' | 'read'>;
  readonly storage: Storage;
  readonly log: Logger;
  readonly findCollection: (name: string) => Collection | undefined;
  readonly tokens: FileTokens;
  readonly tokenWindowSec: () => number;
}

/** Which file, in a collection that is known. */
export interface FileName {
  readonly recordId: string;
  readonly filename: string;
}

/** A file that the caller may have. */
export interface FoundFile {
  readonly key: FileKey;
  readonly field: Field;
  readonly options: FileOptions;
}

/** Everything about reading files that is not HTTP. */
export interface Downloads {
  readonly storage: Storage;
  readonly types: Types;
  readonly thumbs: Thumbs;
  /** The token in a URL, if it is one and is for this file. */
  readToken(
    text: string | undefined,
    collection: Pick<Collection, 'name'>,
    file: FileName,
  ): Promise<FileToken | undefined>;
  /**
   * For whom a request asks: an admin for themselves, else whoever minted its token. Throws 401 when that account is gone
   * or has another password by now.
   */
  principalOf(context: RequestContext, token: FileToken | undefined): Promise<Principal>;
  /** Throws 404 for a file that the record does not have, 403 or 401 where a rule or an option refuses. */
  find(collection: Collection, file: FileName, asking: Asking): Promise<FoundFile>;
  /** Throws 401, 403 or 410 where the field asks for a token that is not there or is no good; nothing is used up. */
  checkToken(found: FoundFile, token: FileToken | undefined, context: RequestContext): Promise<void>;
  /** Uses up a one-time token: of any number of requests at once one passes, the others get 410. */
  use(found: FoundFile, token: FileToken | undefined, context: RequestContext): Promise<void>;
  audit(collection: Collection, file: FileName, found: FoundFile, caller: Caller): Promise<void>;
  mint(collection: Collection, file: FileName, found: FoundFile, context: RequestContext): Promise<MintedToken>;
}

interface Caller {
  readonly principal: Principal;
  readonly clientAddress: string;
  readonly userAgent: string | undefined;
}

interface MintedToken {
  readonly token: string;
  readonly expiresAtSec: number;
}

/** Makes the reader of files. */
export function createDownloads(deps: DownloadDeps): Downloads {
  const { database, storage, log, findCollection, tokens, tokenWindowSec } = deps;

  return {
    storage,
    types: createTypes(storage),
    thumbs: createThumbs({ storage, log }),

    async readToken(text, { name }, { recordId, filename }) {
      const token = text ? await tokens.verify(text) : undefined;
      const isForFile =
        token?.collectionId === findCollection(name)?.id && token?.recordId === recordId && token.filename === filename;
      return isForFile ? token : undefined;
    },

    async principalOf({ principal }, token) {
      if (principal.type === 'admin' || !token?.minter) return principal;
      const { minter } = token;
      const state = await findMinter(minter);
      if (state?.tokenVersion === minter.tokenVersion && state.isSessionAlive) return minter;
      throw unauthenticated('the token is not valid');
    },

    async find(collection, { recordId, filename }, asking) {
      const key = fileKey(collection.id, recordId, filename);
      const fields = fileFieldsOf(collection);
      if (!key || fields.length === 0 || collection.type === 'view' || !isRecordId(recordId)) throw notFound('file');
      const isAdmin = asking.principal.type === 'admin';
      const { parameters, ...statement } = compiled(collection, asking.schema);
      const [row] = await database.query<{ field: string | null; isViewable: boolean; isOpen: boolean }>({
        ...statement,
        values: [recordId, filename, ...parameters.values(asking.request)],
      });
      const field = fields.find(({ name }) => name === row?.field);
      if (!row || !field) throw notFound('file');
      const options = fileOptionsOf(field);
      if (options.requireAuth && asking.principal.type === 'guest') throw unauthenticated();
      if (!isAdmin && !(row.isViewable && row.isOpen)) throw ruleRefusal(asking.principal);
      return { key, field, options };
    },

    async checkToken({ options }, token, { principal, clientAddress }) {
      if (principal.type === 'admin' || !needsToken(options)) return;
      if (!token) throw unauthenticated('a valid file token is required');
      if (options.bindTokenIp && !token.admits(clientAddress))
        throw forbidden('the token is for another address', 'token_address_mismatch');
      if (options.oneTimeToken && (await isUsed(database.query, token))) throw usedUp();
    },

    async use({ options }, token, { principal }) {
      if (principal.type === 'admin' || !options.oneTimeToken || !token) return;
      if (!(await useToken(database.query, token))) throw usedUp();
    },

    async audit(collection, { recordId, filename }, { field, options }, { userAgent, ...context }) {
      if (!options.auditDownloads) return;
      await recordAudit(database.query, {
        action: 'files.download',
        context,
        userAgent,
        target: { type: 'file', id: `${collection.name}/${recordId}/${filename}` },
        details: { field: field.name },
      });
    },

    async mint(collection, file, { options }, { principal, clientAddress }) {
      return tokens.sign({
        collectionId: collection.id,
        ...file,
        minter: principal.type === 'guest' ? null : await asMinter(principal),
        ...(options.bindTokenIp && { boundTo: clientAddress }),
        windowSec: tokenWindowSec(),
      });
    },
  };

  /** An admin who acts as a user does so only in their session; others' tokens outlive being signed out. */
  async function asMinter(principal: SessionPrincipal): Promise<FileTokenMinter> {
    const { sessionId, expiresAtSec: _, ...known } = principal;
    const state = await findMinter(known);
    if (!state) throw unauthenticated();
    const isActing = known.type === 'user' && known.impersonatedBy !== null;
    return { ...known, ...(isActing && { sessionId }), tokenVersion: state.tokenVersion };
  }

  async function findMinter(minter: SessionPrincipal): Promise<MinterState | undefined> {
    const collection = minter.type === 'user' ? findCollection(minter.collection) : undefined;
    if (minter.type === 'user' && collection?.type !== 'auth') return undefined;
    const [state] = await database.query<MinterState>({
      text: `select a.token_version as "tokenVersion",
          $2::text is null or exists (select from system.sessions s where s.id = $2 and s.expires_at > extract(epoch from now())) as "isSessionAlive"
        from ${collection ? tableOf(collection) : 'system.admins'} a where a.id = $1`,
      values: [minter.id, minter.sessionId ?? null],
    });
    return state;
  }
}

/** What the account of a minter says now. */
interface MinterState {
  readonly tokenVersion: number;
  readonly isSessionAlive: boolean;
}

const usedUp = () => new AppError(410, 'token_used', 'the token was used already');

/** Which field of a record has a file, and whether the collection's view rule and the field's hold for the record. */
const compiled = perCollection((collection, schema: Asking['schema']) => {
  const parameters = createParameters(3);
  const place = { row: 't', parameters };
  const cases = fileFieldsOf(collection).map((field) => {
    const column = `t.${quoteIdentifier(field.name)}`;
    const { viewRule } = fileOptionsOf(field);
    return {
      has: field.options.multiple ? `${column} ? $2::text` : `${column} = $2::text`,
      name: quoteLiteral(field.name),
      isOpen:
        viewRule === null ? 'true' : viewRule === '' ? 'false' : compileCondition(viewRule, collection, schema, place),
    };
  });
  const rule = collection.rules.view;
  const isViewable = rule === null ? 'true' : rule === '' ? 'false' : compileRule(collection, 'view', schema, place);
  const text = `select case ${cases.map(({ has, name }) => `when ${has} then ${name}`).join(' ')} end as field,
  (${isViewable}) is true as "isViewable",
  (case ${cases.map(({ has, isOpen }) => `when ${has} then (${isOpen})`).join(' ')} end) is true as "isOpen"
from ${tableOf(collection)} t where t.id = $1`;
  return { ...prepare('file', text), parameters };
});

/** Of whom and of what the rules of a file are asked. */
export const askingAs = (
  principal: Principal,
  schema: Asking['schema'],
  request: Pick<Asking['request'], 'query' | 'header'>,
): Asking => ({
  principal,
  schema,
  request: { method: 'GET', auth: authOf(principal), body: undefined, ...request },
});
