import type { Collection } from '@recordbus/schema';
import type { Catalog } from '../catalog.ts';
import { isObject, type JsonObject } from '../product.ts';
import { toExpandPaths } from '../records/expand-paths.ts';
import { toFilter } from '../records/list-query.ts';
import { Refusal } from '../refusal.ts';

/** What a client follows: `posts/*`, `posts/<id>` or `posts`, with options in the text. */
export interface Topic {
  /** As the client wrote it: its messages have this name. */
  readonly text: string;
  readonly collection: Collection;
  readonly fields: string | null;
  /** The subscription in our API, without its id. */
  readonly subscription: JsonObject;
}

const maxTopicLength = 2500;

/**
 * Reads a topic. Undefined for one that never has messages: no such collection, a filter that does not parse, another
 * name. PocketBase accepts these too. A text with line breaks would be other events, so it has no messages either.
 */
export function readTopic(catalog: Catalog, text: string): Topic | undefined {
  if (text.length > maxTopicLength || /\p{Cc}/u.test(text)) return undefined;
  const [path = '', ...rest] = text.split('?');
  const [name = '', record, ...more] = path.split('/');
  const collection = catalog.find(name);
  if (!collection || collection.type === 'view' || more.length > 0 || record === '') return undefined;
  const query = readOptions(rest.join('?'));
  const option = (member: string) => (typeof query[member] === 'string' ? query[member] : null);
  try {
    const filter = toFilter(catalog, collection, option('filter'));
    const expand = toExpandPaths(catalog, collection, option('expand'));
    const isOne = record !== undefined && record !== '*';
    return {
      text,
      collection,
      fields: option('fields'),
      subscription: {
        collection: collection.name,
        ...(isOne && { record }),
        ...(filter !== '' && { filter }),
        ...(expand !== '' && { expand }),
      },
    };
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** Reads `options={"query": {"filter": …, "expand": …, "fields": …}}`. */
function readOptions(search: string): JsonObject {
  try {
    const options: unknown = JSON.parse(new URLSearchParams(search).get('options') ?? '{}');
    return isObject(options) && isObject(options.query) ? options.query : {};
  } catch {
    return {};
  }
}
