import type { CollectionDefinition } from '@recordbus/client';
import { pathTo, router } from '../router/router.svelte.ts';
import type { IconName } from '../ui/icons.ts';
import { areaGroups, developerAreas, developerPages } from './navigation.ts';

/** A palette result, and what it does. */
export interface PaletteItem {
  readonly name: string;
  /** The kind of result, shown next to the name. */
  readonly kind: string;
  readonly icon: IconName;
  /** Other words that find it. */
  readonly words?: string;
  run(): void;
}

const opens = (name: string, kind: string, icon: IconName, path: string): PaletteItem => ({
  name,
  kind,
  icon,
  run: () => router.open(path),
});

const screens = (): PaletteItem[] =>
  [...areaGroups.flatMap(({ areas }) => areas), ...developerAreas].map(({ name, icon, segment, words }) => ({
    ...opens(name, 'page', icon, pathTo(segment)),
    ...(words !== undefined && { words }),
  }));

const outside = (): PaletteItem[] =>
  developerPages.map(({ name, icon, path, words }) => ({
    name,
    icon,
    words,
    kind: 'developers',
    // Unsaved changes keep the page: the browser asks.
    run: () => location.assign(path),
  }));

const ofCollection = ({ name, type }: CollectionDefinition): PaletteItem[] => [
  opens(
    name,
    'records',
    type === 'auth' ? 'users' : type === 'view' ? 'view' : 'collections',
    pathTo('collections', name, 'records'),
  ),
  opens(`${name}: settings`, 'collection', 'settings', pathTo('collections', name, 'settings')),
  {
    ...opens(`${name}: API`, 'developers', 'code', `${pathTo('collections', name, 'records')}?api=1`),
    words: 'docs types schema curl client samples',
  },
  ...(type === 'view'
    ? []
    : [
        opens(`${name}: new record`, 'action', 'plus', `${pathTo('collections', name, 'records')}?new=1`),
        opens(`${name}: import`, 'action', 'upload', `${pathTo('collections', name, 'records')}?import=1`),
      ]),
  opens(`${name}: export`, 'action', 'download', `${pathTo('collections', name, 'records')}?export=1`),
];

/** Returns everything that the palette finds, including collections. */
export const paletteItems = (
  collections: readonly CollectionDefinition[],
  actions: readonly PaletteItem[],
): PaletteItem[] => [
  opens('Collections', 'page', 'collections', pathTo('collections')),
  ...screens(),
  ...outside(),
  opens('New collection', 'action', 'plus', pathTo('new-collection')),
  opens('New webhook', 'action', 'plus', `${pathTo('webhooks')}?new=1`),
  { ...opens('Move in from PocketBase', 'action', 'upload', pathTo('move-in')), words: 'import backup migrate' },
  ...actions,
  ...collections.flatMap(ofCollection),
];

const id = /^[\w-]{8,128}$/;

/** Returns what a typed id may refer to: a request, or a record's events. */
const byId = (query: string): PaletteItem[] =>
  id.test(query) && /\d/.test(query)
    ? [
        opens(`Request ${query}`, 'by ID', 'logs', pathTo('requests', query)),
        opens(
          `Events for record ${query}`,
          'by ID',
          'events',
          `${pathTo('events')}?record=${encodeURIComponent(query)}`,
        ),
      ]
    : [];

/** Scores a match: a prefix is best, then a word's start, then letters in order. Below 0 is no match. */
function score(name: string, query: string): number {
  const at = name.indexOf(query);
  if (at === 0) return 100 - name.length / 100;
  if (at > 0) return (/[\s:_-]/.test(name[at - 1] ?? '') ? 80 : 60) - name.length / 100;
  let from = 0;
  for (const letter of query) {
    from = name.indexOf(letter, from) + 1;
    if (from === 0) return -1;
  }
  return 20 - from / 100;
}

/** A match of another word counts less than one of the name. */
function rankOf({ name, words = '' }: PaletteItem, query: string): number {
  const isWord = words.split(' ').some((word) => word.startsWith(query));
  return Math.max(score(name.toLowerCase(), query), isWord ? 70 - name.length / 100 : -1);
}

/** How many results to show. */
const maxShown = 40;

/** Returns the matching items, best first. */
export function findItems(items: readonly PaletteItem[], typed: string): readonly PaletteItem[] {
  const query = typed.trim().toLowerCase().slice(0, 200);
  if (query === '') return items.slice(0, maxShown);
  const found = items
    .map((item) => ({ item, rank: rankOf(item, query) }))
    .filter(({ rank }) => rank >= 0)
    .sort((one, other) => other.rank - one.rank);
  return [...byId(typed.trim()), ...found.map(({ item }) => item)].slice(0, maxShown);
}
