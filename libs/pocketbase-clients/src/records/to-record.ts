import type { Collection, Field } from '@recordbus/schema';
import { type Catalog, fieldNamed, isSeveral } from '../catalog.ts';
import { isObject, type JsonObject } from '../product.ts';

/** Members that only records here have. */
const ours: ReadonlySet<string> = new Set(['anonymous', '_score', '_highlight', '_files']);

/** Addresses that the product made up for accounts without one (auth §1.4). */
const madeUp = '@users.invalid';

/** Returns a record as PocketBase's clients expect it: without null, and with its collection's id and name. */
export function toRecord(catalog: Catalog, collection: Collection, data: JsonObject): JsonObject {
  const record: Record<string, unknown> = { collectionId: catalog.idOf(collection), collectionName: collection.name };
  for (const [name, value] of Object.entries(data)) {
    if (ours.has(name)) continue;
    if (name === 'expand') {
      if (isObject(value)) record.expand = toExpand(catalog, collection, value);
    } else record[name] = toValue(fieldNamed(collection, name), name, value);
  }
  if (collection.type === 'auth') completeAccount(record);
  return record;
}

function completeAccount(record: Record<string, unknown>): void {
  record.emailVisibility ??= false;
  if (typeof record.email === 'string' && record.email.endsWith(madeUp)) record.email = '';
}

/** What is not shown is left out, also an empty list. */
function toExpand(catalog: Catalog, collection: Collection, expand: JsonObject): JsonObject {
  const entries = Object.entries(expand).flatMap(([path, value]): [string, unknown][] => {
    const target = findTarget(catalog, collection, path);
    if (!target) return [];
    const toOne = (one: unknown): JsonObject[] => (isObject(one) ? [toRecord(catalog, target, one)] : []);
    if (!Array.isArray(value)) return toOne(value).map((record) => [path, record]);
    const records = value.flatMap(toOne);
    return records.length > 0 ? [[path, records]] : [];
  });
  return Object.fromEntries(entries);
}

/** Between a collection and its relation, in a back-relation's name. */
const via = '_via_';

/** Finds where a step of `expand` leads. */
export function findTarget(catalog: Catalog, collection: Collection, step: string): Collection | undefined {
  const field = fieldNamed(collection, step);
  if (field) return field.type === 'relation' ? catalog.find(field.collection ?? '') : undefined;
  const at = step.lastIndexOf(via);
  const source = at < 0 ? undefined : catalog.find(step.slice(0, at));
  const back = source && fieldNamed(source, step.slice(at + via.length));
  return back?.type === 'relation' && back.collection === collection.name ? source : undefined;
}

function toValue(field: Field | undefined, name: string, value: unknown): unknown {
  if (!field)
    return (name === 'created' || name === 'updated') && typeof value === 'number' ? toDate(value) : (value ?? '');
  switch (field.type) {
    case 'number':
      return value ?? 0;
    case 'bool':
      return value ?? false;
    case 'date':
    case 'autodate':
      return typeof value === 'number' ? toDate(value) : '';
    case 'json':
      return value ?? null;
    case 'vector':
      return value ?? [];
    case 'geoPoint':
      return isObject(value) ? { lon: value.lng, lat: value.lat } : { lon: 0, lat: 0 };
    default:
      return value ?? (isSeveral(field) ? [] : '');
  }
}

/** A second as PocketBase writes it. */
export const toDate = (sec: number): string => new Date(sec * 1000).toISOString().replace('T', ' ');
