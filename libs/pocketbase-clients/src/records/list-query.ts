import { translateFilter, UntranslatableFilter } from '@recordbus/pocketbase/rules';
import type { Collection } from '@recordbus/schema';
import type { Catalog } from '../catalog.ts';
import { badRequest, Refusal } from '../refusal.ts';
import { toExpandPaths } from './expand-paths.ts';
import { ownParameters } from './own-parameters.ts';

/** Translates a list's parameters. `fields` is applied to the answer. */
export function toListQuery(catalog: Catalog, collection: Collection, query: URLSearchParams): URLSearchParams {
  const ours = ownParameters(query);
  for (const name of ['page', 'perPage']) {
    const value = query.get(name);
    if (value) ours.set(name, value);
  }
  if (/^(1|true|t)$/i.test(query.get('skipTotal') ?? '')) ours.set('skipTotal', '1');
  const filter = toFilter(catalog, collection, query.get('filter'));
  if (filter !== '') ours.set('filter', filter);
  const sort = toSort(collection, query.get('sort'));
  if (sort !== '') ours.set('sort', sort);
  const expand = toExpandPaths(catalog, collection, query.get('expand'));
  if (expand !== '') ours.set('expand', expand);
  return ours;
}

/** Translates a client's filter. Throws 400 for what our language cannot say, and 403 for what only rules may read. */
export function toFilter(catalog: Catalog, collection: Collection, text: string | null): string {
  if (text === null || text.trim() === '') return '';
  try {
    return translateFilter(text, catalog.definitionOf(collection), catalog.directory);
  } catch (error) {
    if (!(error instanceof UntranslatableFilter)) throw error;
    const [reserved] = /@(request|collection)\b/.exec(text) ?? [];
    throw reserved === undefined ? badRequest() : new Refusal(403, `Only superusers can filter by ${reserved}.`);
  }
}

const maxSorts = 8;

/** Translates a sort. Without one, PocketBase lists records as they were inserted. `@random` after other parts orders ties. */
function toSort(collection: Collection, text: string | null): string {
  const oldestFirst = collection.lacking?.includes('created_at') ? '' : 'created';
  const parts = (text ?? '')
    .split(',', maxSorts + 1)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (parts.length === 0) return oldestFirst;
  if (parts.length > maxSorts) throw badRequest();
  if (/^[-+]?@random$/.test(parts[0] ?? '')) return '@random';
  return parts
    .filter((part) => !/^[-+]?@random$/.test(part))
    .map((part) => {
      const sign = part.startsWith('-') ? '-' : '';
      const name = part.replace(/^[-+]/, '');
      const [, reserved] = /^@(request|collection)\b/.exec(name) ?? [];
      if (reserved !== undefined) throw new Refusal(403, `Only superusers can sort by @${reserved}.`);
      return `${sign}${name === '@rowid' ? oldestFirst || 'id' : name}`;
    })
    .join(',');
}
