import type { CollectionDefinition } from '@recordbus/client';
import { pathTo, router } from '../router/router.svelte.ts';
import type { IconName } from '../ui/icons.ts';
import { areaGroups } from './navigation.ts';

/** Something that the palette finds and does. */
export interface PaletteItem {
  readonly name: string;
  /** What kind of thing it is, shown beside the name. */
  readonly kind: string;
  readonly icon: IconName;
  run(): void;
}

const opens = (name: string, kind: string, icon: IconName, path: string): PaletteItem => ({
  name,
  kind,
  icon,
  run: () => router.open(path),
});

const screens = (): PaletteItem[] =>
  areaGroups.flatMap(({ areas }) =>
    areas.map(({ name, icon, segment }) => opens(name, 'screen', icon, pathTo(segment))),
  );

const ofCollection = ({ name, type }: CollectionDefinition): PaletteItem[] => [
  opens(
    name,
    'records',
    type === 'auth' ? 'users' : type === 'view' ? 'view' : 'collections',
    pathTo('collections', name, 'records'),
  ),
  opens(`${name}: settings`, 'collection', 'settings', pathTo('collections', name, 'settings')),
  ...(type === 'view'
    ? []
    : [
        opens(`${name}: new record`, 'action', 'plus', `${pathTo('collections', name, 'records')}?new=1`),
        opens(`${name}: import`, 'action', 'upload', `${pathTo('collections', name, 'records')}?import=1`),
      ]),
  opens(`${name}: export`, 'action', 'download', `${pathTo('collections', name, 'records')}?export=1`),
];

/** Everything that the palette finds, the collections of the stack included. */
export const paletteItems = (
  collections: readonly CollectionDefinition[],
  actions: readonly PaletteItem[],
): PaletteItem[] => [
  ...screens(),
  opens('New collection', 'action', 'plus', pathTo('new-collection')),
  opens('New webhook', 'action', 'plus', `${pathTo('webhooks')}?new=1`),
  ...actions,
  ...collections.flatMap(ofCollection),
];

const id = /^[\w-]{8,128}$/;

/** What a typed id may be: a request, or a record that events are about. */
const byId = (words: string): PaletteItem[] =>
  id.test(words) && /\d/.test(words)
    ? [
        opens(`Request ${words}`, 'by id', 'logs', pathTo('requests', words)),
        opens(
          `Events of record ${words}`,
          'by id',
          'events',
          `${pathTo('events')}?record=${encodeURIComponent(words)}`,
        ),
      ]
    : [];

/** How well a name fits what was typed: a beginning is best, then a word, then letters in their order. Below 0: not at all. */
function fit(name: string, words: string): number {
  const at = name.indexOf(words);
  if (at === 0) return 100 - name.length / 100;
  if (at > 0) return (/[\s:_-]/.test(name[at - 1] ?? '') ? 80 : 60) - name.length / 100;
  let from = 0;
  for (const letter of words) {
    from = name.indexOf(letter, from) + 1;
    if (from === 0) return -1;
  }
  return 20 - from / 100;
}

/** More than these are not shown. */
const maxShown = 40;

/** Returns the items that fit, the best first. */
export function findItems(items: readonly PaletteItem[], typed: string): readonly PaletteItem[] {
  const words = typed.trim().toLowerCase().slice(0, 200);
  if (words === '') return items.slice(0, maxShown);
  const found = items
    .map((item) => ({ item, score: fit(item.name.toLowerCase(), words) }))
    .filter(({ score }) => score >= 0)
    .sort((one, other) => other.score - one.score);
  return [...byId(typed.trim()), ...found.map(({ item }) => item)].slice(0, maxShown);
}
