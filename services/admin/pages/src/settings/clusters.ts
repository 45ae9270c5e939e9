import type { SettingDescription } from '@recordbus/client';

/** Related settings, such as one provider's. */
export interface Cluster {
  /** Their keys' common prefix. Empty if a small group is not split. */
  readonly name: string;
  readonly settings: readonly SettingDescription[];
}

/** A group with more settings than this is split. */
const maxTogether = 12;

const prefixOf = (key: string): string => key.slice(0, key.lastIndexOf('.'));

/** Splits a large settings group by key prefix. */
export function clustersOf(settings: readonly SettingDescription[]): readonly Cluster[] {
  if (settings.length <= maxTogether) return [{ name: '', settings }];
  const clusters = new Map<string, SettingDescription[]>();
  for (const setting of settings) {
    const name = prefixOf(setting.key);
    clusters.set(name, [...(clusters.get(name) ?? []), setting]);
  }
  return [...clusters].map(([name, list]) => ({ name, settings: list }));
}

/** Whether a setting matches a search. */
export const isFound = ({ key, about }: Pick<SettingDescription, 'key' | 'about'>, search: string): boolean =>
  `${key} ${about}`.toLowerCase().includes(search.trim().toLowerCase());
