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
  { segment: 'users', name: 'Users', icon: 'users' },
  { segment: 'admins', name: 'Admins', icon: 'admin' },
  { segment: 'keys', name: 'Service keys', icon: 'key' },
  { segment: 'settings', name: 'Settings', icon: 'settings' },
];

export const addressOf = ({ segment }: Area): string => pathTo(segment);
