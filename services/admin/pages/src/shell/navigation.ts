import { pathTo } from '../router/router.svelte.ts';
import type { IconName } from '../ui/icons.ts';

/** An entry of the navigation: the first segment of its pages. */
export interface Area {
  readonly segment: string;
  readonly name: string;
  readonly icon: IconName;
}

export const areas: readonly Area[] = [
  { segment: 'collections', name: 'Collections', icon: 'collections' },
  { segment: 'webhooks', name: 'Webhooks', icon: 'webhook' },
];

export const addressOf = ({ segment }: Area): string => pathTo(segment);
