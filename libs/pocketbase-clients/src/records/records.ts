import type { Collection } from '@recordbus/schema';
import { collectionOf, type Exchange, type Reply, readJson, saysAdmin, segment } from '../exchange.ts';
import { callForJson, dataOf, isSuccess, type JsonAnswer, type JsonObject } from '../product.ts';
import { notFound, Refusal } from '../refusal.ts';
import { toExpandPaths } from './expand-paths.ts';
import { toListQuery } from './list-query.ts';
import { pickFields } from './pick-fields.ts';
import { toBody } from './to-body.ts';
import { toRecord } from './to-record.ts';
import { toRecordRefusal } from './to-refusal.ts';
import { writeForm } from './write-form.ts';

/** Where a collection's records are in our API. */
export const recordsPath = ({ name }: Collection): string => `/api/v1/records/${segment(name)}`;

/** `collections/{collection}/records` and `collections/{collection}/records/{id}`. */
export function serveRecords(exchange: Exchange, name: string, id: string | undefined): Promise<Reply> {
  const collection = collectionOf(exchange, name);
  const { method } = exchange.request;
  if (id === undefined) {
    if (method === 'GET') return list(exchange, collection);
    if (method === 'POST') return write(exchange, collection, undefined);
  } else {
    if (method === 'GET') return view(exchange, collection, id);
    if (method === 'PATCH') return write(exchange, collection, id);
    if (method === 'DELETE') return remove(exchange, collection, id);
  }
  throw notFound();
}

/** Views are read only. */
function refuseView({ type }: Collection): void {
  if (type === 'view') throw new Refusal(400, 'Unsupported collection type.');
}

async function list(exchange: Exchange, collection: Collection): Promise<Reply> {
  const { request, catalog } = exchange;
  const query = toListQuery(catalog, collection, request.query);
  const answer = await readWithExpand(exchange, recordsPath(collection), query);
  if (!isSuccess(answer)) throw toRecordRefusal(answer, 'list', collection);
  const { data, page, perPage, totalItems, totalPages } = answer.json;
  const records: readonly JsonObject[] = Array.isArray(data) ? data : [];
  const items = records.map((record) => pick(exchange, toRecord(catalog, collection, record)));
  return { status: 200, body: { items, page, perPage, totalItems, totalPages } };
}

async function view(exchange: Exchange, collection: Collection, id: string): Promise<Reply> {
  return { status: 200, body: pick(exchange, await readRecord(exchange, collection, id)) };
}

const pick = ({ request }: Exchange, record: JsonObject) => pickFields(record, request.query.get('fields'));

async function readRecord(exchange: Exchange, collection: Collection, id: string): Promise<JsonObject> {
  const { request, catalog } = exchange;
  const expand = toExpandPaths(catalog, collection, request.query.get('expand'));
  const query = new URLSearchParams(expand === '' ? {} : { expand });
  const answer = await readWithExpand(exchange, `${recordsPath(collection)}/${segment(id)}`, query);
  if (!isSuccess(answer)) throw toRecordRefusal(answer, 'view', collection);
  return toRecord(catalog, collection, dataOf(answer));
}

/** PocketBase drops an expansion that fails; our API refuses the request. */
async function readWithExpand({ call }: Exchange, path: string, query: URLSearchParams): Promise<JsonAnswer> {
  const send = () => callForJson(call, { method: 'GET', path: `${path}?${query}` });
  const answer = await send();
  const { details } = answer.json;
  if (answer.status !== 400 || !query.has('expand') || !hasMember(details, 'expand')) return answer;
  query.delete('expand');
  return send();
}

const hasMember = (value: unknown, name: string): boolean =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name);

async function write(exchange: Exchange, collection: Collection, id: string | undefined): Promise<Reply> {
  refuseView(collection);
  const action = id === undefined ? 'create' : 'update';
  const answer = exchange.request.contentType.startsWith('multipart/form-data')
    ? await writeForm(exchange, collection, id)
    : await writeJson(exchange, collection, id);
  if (!isSuccess(answer)) throw toRecordRefusal(answer, action, collection);
  return { status: 200, body: await writtenRecord(exchange, collection, dataOf(answer)) };
}

async function writeJson(exchange: Exchange, collection: Collection, id: string | undefined): Promise<JsonAnswer> {
  const isAdmin = saysAdmin(exchange.request);
  const written = toBody(collection, await readJson(exchange.request), { isNew: id === undefined, isAdmin });
  refuseMembers(written.refusals, id === undefined);
  return callForJson(exchange.call, { ...writeRequest(collection, id, written.id), body: written.data });
}

/** Throws 400 if members are wrong that only PocketBase has. */
export function refuseMembers(refusals: Readonly<Record<string, unknown>>, isNew: boolean): void {
  if (Object.keys(refusals).length > 0)
    throw new Refusal(400, isNew ? 'Failed to create record.' : 'Failed to update record.', refusals);
}

/** The request that writes a record; `chosen` is the id that the client chose for a new one. */
export function writeRequest(collection: Collection, id: string | undefined, chosen: string | undefined) {
  const path = recordsPath(collection);
  if (id !== undefined) return { method: 'PATCH', path: `${path}/${segment(id)}` };
  if (chosen === undefined) return { method: 'POST', path };
  return { method: 'PUT', path: `${path}/${segment(chosen)}`, headers: { 'if-none-match': '*' } };
}

/** The written record for the answer. Our writes answer without expansions, so they take a read. */
async function writtenRecord(exchange: Exchange, collection: Collection, data: JsonObject): Promise<unknown> {
  const { request, catalog } = exchange;
  const record = toRecord(catalog, collection, data);
  if (!request.query.get('expand') || typeof data.id !== 'string') return pick(exchange, record);
  try {
    const { expand } = await readRecord(exchange, collection, data.id);
    return pick(exchange, expand === undefined ? record : { ...record, expand });
  } catch (error) {
    // The caller may write records that it may not read.
    if (error instanceof Refusal) return pick(exchange, record);
    throw error;
  }
}

async function remove({ call }: Exchange, collection: Collection, id: string): Promise<Reply> {
  refuseView(collection);
  const answer = await callForJson(call, { method: 'DELETE', path: `${recordsPath(collection)}/${segment(id)}` });
  if (!isSuccess(answer)) throw toRecordRefusal(answer, 'delete', collection);
  return { status: 204 };
}
