import { pathTo } from '../router/router.svelte.ts';
import type { IconName } from '../ui/icons.ts';

/** A navigation entry. Its segment is the first one in its pages' addresses. */
export interface Area {
  readonly segment: string;
  readonly name: string;
  readonly icon: IconName;
}

/** Entries under a heading. */
export interface AreaGroup {
  readonly name: string;
  readonly areas: readonly Area[];
}

export const areaGroups: readonly AreaGroup[] = [
  {
    name: 'Delivery',
    areas: [
      { segment: 'webhooks', name: 'Webhooks', icon: 'webhook' },
      { segment: 'events', name: 'Events', icon: 'events' },
    ],
  },
  {
    name: 'Access',
    areas: [
      { segment: 'users', name: 'Users', icon: 'users' },
      { segment: 'admins', name: 'Admins', icon: 'admin' },
      { segment: 'keys', name: 'Service keys', icon: 'key' },
      { segment: 'settings', name: 'Settings', icon: 'settings' },
    ],
  },
  {
    name: 'Operations',
    areas: [
      { segment: 'health', name: 'Health', icon: 'health' },
      { segment: 'requests', name: 'Requests', icon: 'logs' },
      { segment: 'audit', name: 'Audit log', icon: 'audit' },
      { segment: 'jobs', name: 'Jobs', icon: 'jobs' },
      { segment: 'crons', name: 'Crons', icon: 'history' },
      { segment: 'backups', name: 'Backups', icon: 'archive' },
    ],
  },
];

export const addressOf = ({ segment }: Area): string => pathTo(segment);
