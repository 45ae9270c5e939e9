import type { Collection } from '@recordbus/schema';
import { type Exchange, segment } from '../exchange.ts';
import { callForJson, dataOf, isObject, isSuccess, type JsonAnswer, type JsonObject } from '../product.ts';
import { toExpandPaths } from './expand-paths.ts';
import { toRecord } from './to-record.ts';

/** Where a collection's records are in our API. */
export const recordsPath = ({ name }: Pick<Collection, 'name'>): string => `/api/v1/records/${segment(name)}`;

/** PocketBase drops an expansion that fails; our API refuses the request. */
export async function readWithExpand(
  { call }: Exchange,
  path: string,
  query: URLSearchParams,
  headers: Readonly<Record<string, string>> = {},
): Promise<JsonAnswer> {
  const send = () => callForJson(call, { method: 'GET', path: `${path}?${query}`, headers });
  const answer = await send();
  const { details } = answer.json;
  if (answer.status !== 400 || !query.has('expand') || !isObject(details) || !Object.hasOwn(details, 'expand'))
    return answer;
  query.delete('expand');
  return send();
}

/** A record whose expansion an answer needs, and how to read it. */
interface Expanded {
  readonly id: unknown;
  /** The request's `expand`. */
  readonly paths: string | null | undefined;
  /** A token in place of the request's. */
  readonly token?: string;
}

/**
 * Reads a record's expansion for an answer that our API gives without one. Returns `{}` where nothing is to be shown, also
 * for a record that the caller may not read.
 */
export async function readExpand(
  exchange: Exchange,
  collection: Collection,
  { id, paths, token }: Expanded,
): Promise<{ readonly expand?: unknown }> {
  const { catalog } = exchange;
  const expand = toExpandPaths(catalog, collection, paths ?? null);
  if (expand === '' || typeof id !== 'string') return {};
  const path = `${recordsPath(collection)}/${segment(id)}`;
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await readWithExpand(exchange, path, new URLSearchParams({ expand }), headers);
  const record: JsonObject = isSuccess(answer) ? toRecord(catalog, collection, dataOf(answer)) : {};
  return record.expand === undefined ? {} : { expand: record.expand };
}
