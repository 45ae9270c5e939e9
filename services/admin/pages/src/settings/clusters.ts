import type { SettingDescription } from '@recordbus/client';

/** Settings that belong together, such as those of one provider. */
export interface Cluster {
  /** What their keys begin with; empty for all of a small group. */
  readonly name: string;
  readonly settings: readonly SettingDescription[];
}

/** A group with more settings than these is shown in clusters. */
const maxTogether = 12;

const beginningOf = (key: string): string => key.slice(0, key.lastIndexOf('.'));

/** Splits the settings of a group by what their keys begin with, if they are many. */
export function clustersOf(settings: readonly SettingDescription[]): readonly Cluster[] {
  if (settings.length <= maxTogether) return [{ name: '', settings }];
  const clusters = new Map<string, SettingDescription[]>();
  for (const setting of settings) {
    const name = beginningOf(setting.key);
    clusters.set(name, [...(clusters.get(name) ?? []), setting]);
  }
  return [...clusters].map(([name, list]) => ({ name, settings: list }));
}

/** Whether a setting contains the words of a search. */
export const isFound = ({ key, about }: Pick<SettingDescription, 'key' | 'about'>, search: string): boolean =>
  `${key} ${about}`.toLowerCase().includes(search.trim().toLowerCase());
