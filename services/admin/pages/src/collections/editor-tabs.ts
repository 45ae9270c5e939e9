import type { Draft } from './draft.ts';

/** A part of the editor. */
export interface EditorTab {
  readonly id: string;
  readonly name: string;
  /** How many of its values are wrong. */
  readonly problems: number;
}

/** Returns the tab that shows a place in the definition. Name and type are above the tabs. */
const tabOf = (place: string): string => {
  if (place === 'name' || place === 'type') return '';
  if (place.startsWith('fields') || place === 'view_query') return 'fields';
  return place.endsWith('_rule') ? 'rules' : 'options';
};

/** Returns the editor's tabs. Indexes need a stored collection. */
export function tabsOf(type: Draft['type'], isStored: boolean, wrong: readonly string[]): readonly EditorTab[] {
  const tab = (id: string, name: string): EditorTab => {
    return { id, name, problems: wrong.filter((place) => tabOf(place) === id).length };
  };
  return [
    tab('fields', type === 'view' ? 'Query' : 'Fields'),
    tab('rules', 'Rules'),
    ...(isStored && type !== 'view' ? [tab('indexes', 'Indexes')] : []),
    ...(isStored || type !== 'view' ? [tab('options', 'Options')] : []),
  ];
}
