import type { Collection } from '@recordbus/schema';
import { collectionOf, type Exchange, type Reply, readJson, saysAdmin, segment } from '../exchange.ts';
import { callForJson, dataOf, isObject, isSuccess, type JsonAnswer, type JsonObject } from '../product.ts';
import { blank, mismatch, notFound, Refusal } from '../refusal.ts';
import { toExpandPaths } from './expand-paths.ts';
import { toListQuery } from './list-query.ts';
import { ownParameters, ownSearch } from './own-parameters.ts';
import { checkFields, pickFields } from './pick-fields.ts';
import { readExpand, readWithExpand, recordsPath } from './read-expand.ts';
import { toBody } from './to-body.ts';
import { toRecord } from './to-record.ts';
import { closedMembers, toRecordRefusal } from './to-refusal.ts';
import { writeForm } from './write-form.ts';

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
  checkFields(request.query.get('fields'));
  const query = toListQuery(catalog, collection, request.query);
  const answer = await readWithExpand(exchange, recordsPath(collection), query);
  if (!isSuccess(answer)) throw toRecordRefusal(answer, 'list', collection);
  const { data, page, perPage, totalItems, totalPages } = answer.json;
  const records: readonly JsonObject[] = Array.isArray(data) ? data : [];
  const items = records.map((record) => pick(exchange, toRecord(catalog, collection, record)));
  return { status: 200, body: { items, page, perPage, totalItems, totalPages } };
}

async function view(exchange: Exchange, collection: Collection, id: string): Promise<Reply> {
  checkFields(exchange.request.query.get('fields'));
  return { status: 200, body: pick(exchange, await readRecord(exchange, collection, id)) };
}

const pick = ({ request }: Exchange, record: JsonObject) => pickFields(record, request.query.get('fields'));

async function readRecord(exchange: Exchange, collection: Collection, id: string): Promise<JsonObject> {
  const { request, catalog } = exchange;
  const expand = toExpandPaths(catalog, collection, request.query.get('expand'));
  const query = ownParameters(request.query);
  if (expand !== '') query.set('expand', expand);
  const answer = await readWithExpand(exchange, `${recordsPath(collection)}/${segment(id)}`, query);
  if (!isSuccess(answer)) throw toRecordRefusal(answer, 'view', collection);
  return toRecord(catalog, collection, dataOf(answer));
}

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
  const body = await readJson(exchange.request);
  const written = toBody(collection, body, { id, isAdmin });
  refuseMembers(written.refusals, id === undefined);
  const emptied = id !== undefined && !isAdmin && (await emptiesAddress(exchange, collection, id, body));
  const answer = await callForJson(exchange.call, {
    ...writeRequest(exchange, collection, { id, chosen: written.id }),
    body: emptied ? { ...written.data, email: '' } : written.data,
  });
  if (emptied && !isSuccess(answer)) {
    const { status, message, data } = toRecordRefusal(answer, 'update', collection);
    throw new Refusal(status, message, status === 400 ? { email: mismatch, ...data } : data);
  }
  const { password, old_password: oldPassword } = written.data;
  const lacksProof =
    collection.type === 'auth' && id !== undefined && !isAdmin && password && oldPassword === undefined;
  // Our API names what nobody but an admin may write first, and PocketBase all at once.
  if (answer.status === 403 && isObject(answer.json.details) && lacksProof)
    throw new Refusal(400, 'Failed to update record.', { ...closedMembers(answer.json.details), oldPassword: blank });
  return answer;
}

/** Whether a body empties an address. Clients send back the empty one that they see in place of a made-up one. */
async function emptiesAddress(exchange: Exchange, collection: Collection, id: string, body: JsonObject) {
  if (collection.type !== 'auth' || body.email !== '') return false;
  const answer = await callForJson(exchange.call, { method: 'GET', path: `${recordsPath(collection)}/${segment(id)}` });
  const { email } = toRecord(exchange.catalog, collection, dataOf(answer));
  return typeof email === 'string' && email !== '';
}

/** Throws 400 if members are wrong that only PocketBase has. */
export function refuseMembers(refusals: Readonly<Record<string, unknown>>, isNew: boolean): void {
  if (Object.keys(refusals).length > 0)
    throw new Refusal(400, isNew ? 'Failed to create record.' : 'Failed to update record.', refusals);
}

/** The request that writes a record; `chosen` is the id that the client chose for a new one. */
export function writeRequest(
  { request }: Exchange,
  collection: Collection,
  { id, chosen }: { readonly id: string | undefined; readonly chosen: string | undefined },
) {
  const search = ownSearch(request.query);
  const path = recordsPath(collection);
  if (id !== undefined) return { method: 'PATCH', path: `${path}/${segment(id)}${search}` };
  if (chosen === undefined) return { method: 'POST', path: `${path}${search}` };
  return { method: 'PUT', path: `${path}/${segment(chosen)}${search}`, headers: { 'if-none-match': '*' } };
}

/** The written record for the answer. Our writes answer without expansions, so they take a read. */
async function writtenRecord(exchange: Exchange, collection: Collection, data: JsonObject): Promise<unknown> {
  const { request, catalog } = exchange;
  const expand = await readExpand(exchange, collection, { id: data.id, paths: request.query.get('expand') });
  return pick(exchange, { ...toRecord(catalog, collection, data), ...expand });
}

async function remove({ call, request }: Exchange, collection: Collection, id: string): Promise<Reply> {
  refuseView(collection);
  const path = `${recordsPath(collection)}/${segment(id)}${ownSearch(request.query)}`;
  const answer = await callForJson(call, { method: 'DELETE', path });
  if (!isSuccess(answer)) throw toRecordRefusal(answer, 'delete', collection);
  return { status: 204 };
}
