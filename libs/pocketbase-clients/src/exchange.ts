import type { Readable } from 'node:stream';
import { findJsonExcess } from '@recordbus/http';
import type { Collection } from '@recordbus/schema';
import { type Catalog, superusersId } from './catalog.ts';
import { readBody } from './held-bytes.ts';
import { type CallProduct, isObject, type JsonObject } from './product.ts';
import { badRequest, notFound, Refusal, superusersOnly } from './refusal.ts';

/** A PocketBase client's request. */
export interface ClientRequest {
  readonly method: string;
  /** The decoded segments below `/api/`. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: Readable;
  /** The token's text, without `Bearer`; undefined if there is none. */
  readonly token: string | undefined;
  readonly client: {
    /** Behind trusted proxies. */
    readonly address: string;
    /** A header that only proxies send, if there is one; else `""`. */
    readonly proxyHeader: string;
  };
  /** Where the client reaches `/api/`, such as `https://example.com/pb`. */
  readonly baseUrl: string;
}

/** A request, and what its handler needs. */
export interface Exchange {
  readonly request: ClientRequest;
  readonly call: CallProduct;
  readonly catalog: Catalog;
  readonly accounts: AccountSettings;
  /** Returns a session token with the claims that clients read. */
  readonly withClaims: (token: string, collectionId: string) => Promise<string>;
}

/** What `auth-methods` says about an auth collection. */
export interface AccountSettings {
  identityFieldsOf(collection: Collection): readonly string[];
  /** Whether passwords, mailed codes or providers sign in to the collection. */
  readonly takes: (collection: Collection, way: 'password' | 'otp' | 'oauth2') => boolean;
  /** Whether a mailed code is the collection's second factor (auth §6.11). */
  readonly mailsFactors: (collection: Collection) => boolean;
}

/** An answer to a client. */
export type Reply =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | { readonly status: number; readonly stream: Readable; readonly headers: Readonly<Record<string, string>> };

export const maxBodyBytes = 1024 * 1024;

/** Reads a JSON body; `{}` without one. Throws 400, and 413 for a body that is too long. */
export async function readJson({ body, contentType }: ClientRequest, limitBytes = maxBodyBytes): Promise<JsonObject> {
  const bytes = await readBody(body.iterator({ destroyOnReturn: false }), limitBytes);
  if (bytes.length === 0) return {};
  if (contentType.startsWith('application/x-www-form-urlencoded')) return readForm(bytes);
  return parseJson(bytes);
}

/** Parses a JSON object. Throws 400. */
export function parseJson(bytes: Buffer): JsonObject {
  if (findJsonExcess(bytes) !== undefined) throw badRequest();
  try {
    const value: unknown = JSON.parse(bytes.toString());
    if (isObject(value)) return value;
  } catch {
    // Whatever is wrong with it, the answer is the same.
  }
  throw badRequest();
}

const maxFormMembers = 1000;

function readForm(bytes: Buffer): JsonObject {
  const parameters = new URLSearchParams(bytes.toString());
  if (parameters.size > maxFormMembers) throw badRequest();
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length > 1 ? values : values[0]];
    }),
  );
}

/** Whether a path names the admins. */
export const isAdminsOnly = (name: string): boolean => name === '_superusers' || name === superusersId;

/** Finds the collection that a path names. Throws 404, and 403 for the admins. */
export function collectionOf({ catalog, request }: Pick<Exchange, 'catalog' | 'request'>, name: string): Collection {
  const collection = catalog.find(name);
  if (!collection && isAdminsOnly(name) && !saysAdmin(request)) throw superusersOnly();
  if (!collection) throw new Refusal(404, 'Missing collection context.');
  return collection;
}

/** Finds the auth collection that a path names. Throws 404. */
export function accountsOf({ catalog }: Pick<Exchange, 'catalog'>, name: string): Collection {
  const collection = catalog.find(name);
  if (collection?.type !== 'auth') throw new Refusal(404, 'Missing or invalid auth collection context.');
  return collection;
}

/** Whether the token says that its holder is an admin. It decides nothing: the product verifies the token. */
export const saysAdmin = (request: Pick<ClientRequest, 'token'>): boolean => claimsOf(request).aud === 'admin';

/** Whether the token says that its holder is an account of this collection. The product verifies it too. */
export function saysCollection({ request, catalog }: Exchange, collection: Collection): boolean {
  const { collection: name, collectionId } = claimsOf(request);
  return typeof name === 'string' ? name === collection.name : collectionId === catalog.idOf(collection);
}

/** What the request's token says; `{}` without one. */
export function claimsOf({ token = '' }: Pick<ClientRequest, 'token'>): JsonObject {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.', 2)[1] ?? '', 'base64url').toString());
    return isObject(claims) ? claims : {};
  } catch {
    return {};
  }
}

/** Encodes a path segment. Throws 404 for one that would lead elsewhere. */
export function segment(text: string): string {
  if (text === '' || text === '.' || text === '..') throw notFound();
  return encodeURIComponent(text);
}
