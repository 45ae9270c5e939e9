import { claimsOf, type Exchange, type Reply, saysAdmin, segment } from '../exchange.ts';
import { callForJson, isObject, isSuccess, type JsonObject } from '../product.ts';
import { pickFields } from '../records/pick-fields.ts';
import { toDate } from '../records/to-record.ts';
import { toGeneralRefusal } from '../records/to-refusal.ts';
import { badRequest, notFound, Refusal, superusersOnly } from '../refusal.ts';
import { authPath } from './requests.ts';

const collectionName = '_externalAuths';
/** PocketBase's id for this collection. */
const collectionId = 'pbc_2281828961';

/** Whether a path names the links to providers. */
export const isExternalAuths = (name: string): boolean => name === collectionName || name === collectionId;

/** `_externalAuths`: the caller's links to providers. A guest has none. Only the caller's own are here. */
export async function serveExternalAuths(exchange: Exchange, id: string | undefined): Promise<Reply> {
  const { method, query } = exchange.request;
  if (saysAdmin(exchange.request)) throw new Refusal(404, 'Missing collection context.');
  if (method === 'POST' || method === 'PATCH') throw superusersOnly();
  if (method !== 'GET' && method !== 'DELETE') throw notFound();
  const links = await listLinks(exchange);
  if (id === undefined) {
    if (method === 'DELETE') throw notFound();
    return { status: 200, body: toPage(links.filter(toTest(query.get('filter'))), query) };
  }
  const link = links.find((one) => one.id === id);
  if (!link) throw notFound();
  if (method === 'GET') return { status: 200, body: pickFields(link, query.get('fields')) };
  return unlink(exchange, String(link.provider));
}

async function listLinks(exchange: Exchange): Promise<readonly JsonObject[]> {
  const { call, catalog, request } = exchange;
  const { id: caller, collectionId: claimed, collection: name } = claimsOf(request);
  const collection = catalog.find(String(name ?? claimed));
  if (!collection) return [];
  const answer = await callForJson(call, { method: 'GET', path: `${authPath(collection)}/oauth2/links` });
  if (!isSuccess(answer)) {
    const general = toGeneralRefusal(answer);
    if (general) throw general;
    return [];
  }
  const { data } = answer.json;
  const links: readonly unknown[] = Array.isArray(data) ? data : [];
  const byProvider = new Map<string, JsonObject>();
  for (const link of links) {
    if (!isObject(link) || byProvider.has(String(link.provider))) continue;
    const created = toDate(Number(link.created));
    byProvider.set(String(link.provider), {
      collectionId,
      collectionName,
      // The product names a link by its provider.
      id: link.provider,
      collectionRef: catalog.idOf(collection),
      recordRef: caller,
      provider: link.provider,
      providerId: link.provider_user_id,
      created,
      updated: created,
    });
  }
  return [...byProvider.values()];
}

async function unlink(exchange: Exchange, provider: string): Promise<Reply> {
  const { call, catalog, request } = exchange;
  const { collection: name, collectionId: claimed } = claimsOf(request);
  const collection = catalog.find(String(name ?? claimed));
  if (!collection) throw notFound();
  const path = `${authPath(collection)}/oauth2/${segment(provider)}/unlink`;
  const answer = await callForJson(call, { method: 'DELETE', path, body: {} });
  if (isSuccess(answer)) return { status: 204 };
  throw toGeneralRefusal(answer) ?? (answer.status === 404 ? notFound() : new Refusal(400, unlinkFailed));
}

const unlinkFailed =
  'Failed to delete record. It takes a sign-in within the last 10 minutes, and another way to sign in.';

/** A part of a filter: a member's name and the text that it equals. */
const equality = /^\(?\s*(\w{1,64})\s*=\s*(?:'([^']{0,255})'|"([^"]{0,255})")\s*\)?$/;

/** Reads a filter like those of PocketBase's clients: equal members, joined by `&&`. Throws 400 for another one. */
function toTest(filter: string | null): (link: JsonObject) => boolean {
  if (filter === null || filter.trim() === '') return () => true;
  if (filter.length > 1000) throw badRequest();
  const inner = filter.trim().replace(/^\((.*)\)$/, '$1');
  const wanted = inner.split('&&').map((part) => {
    const [, name, single, double] = equality.exec(part.trim()) ?? [];
    if (name === undefined) throw badRequest();
    return [name, single ?? double ?? ''] as const;
  });
  return (link) => wanted.every(([name, text]) => link[name] === text);
}

function toPage(links: readonly JsonObject[], query: URLSearchParams): JsonObject {
  const perPage = Math.min(1000, Number(query.get('perPage')) || 30);
  const page = Number(query.get('page')) || 1;
  const { length } = links;
  const isCounted = !/^(1|true|t)$/i.test(query.get('skipTotal') ?? '');
  return {
    items: links.slice((page - 1) * perPage, page * perPage).map((link) => pickFields(link, query.get('fields'))),
    page,
    perPage,
    totalItems: isCounted ? length : -1,
    totalPages: isCounted ? Math.ceil(length / perPage) : -1,
  };
}
