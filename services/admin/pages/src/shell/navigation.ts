import { pathTo } from '../router/router.svelte.ts';
import type { IconName } from '../ui/icons.ts';

/** A navigation entry. Its segment is the first one in its pages' addresses. */
export interface Area {
  readonly segment: string;
  readonly name: string;
  readonly icon: IconName;
  /** Other words that find it in the palette. */
  readonly words?: string;
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
      { segment: 'admins', name: 'Admins', icon: 'admin', words: 'passkeys password 2fa sessions account profile' },
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
      { segment: 'extension-jobs', name: 'Extension jobs', icon: 'play', words: 'queue background dead retry' },
      { segment: 'mails', name: 'Mails', icon: 'mail', words: 'email sent dead bounced smtp log' },
      { segment: 'backups', name: 'Backups', icon: 'archive', words: 'restore upload schedule' },
    ],
  },
];

/** The pages under the heading Developers, before those outside. */
export const developerAreas: readonly Area[] = [
  {
    segment: 'schema',
    name: 'Schema',
    icon: 'relations',
    words: 'diagram relations pull plan apply migrations api docs types',
  },
  { segment: 'types', name: 'Types', icon: 'code', words: 'typescript client api docs schema' },
];

/** A page outside these pages. The browser loads it. */
export interface OutsidePage {
  readonly name: string;
  readonly icon: IconName;
  readonly path: string;
  /** Other words that find it in the palette. */
  readonly words: string;
}

export const developerPages: readonly OutsidePage[] = [
  { name: 'API reference', icon: 'book', path: '/docs', words: 'docs documentation openapi types schema routes' },
];

export const addressOf = ({ segment }: Area): string => pathTo(segment);
