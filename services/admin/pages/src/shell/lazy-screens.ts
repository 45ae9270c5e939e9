import type { Component } from 'svelte';

/** Loads a component when it first shows. */
export type Load<Props extends object> = () => Promise<{ readonly default: Component<Props> }>;
type Screens<Props extends object> = Readonly<Record<string, Load<Props>>>;

/** Screens by their address's first segment. Each is a separate chunk. */
export const lazyScreens: Screens<Record<string, never>> = {
  health: () => import('../operations/health-page.svelte'),
  audit: () => import('../audit/audit-list.svelte'),
  mails: () => import('../mails/mail-list.svelte'),
  'move-in': () => import('../moves/move-page.svelte'),
  schema: () => import('../developers/schema-page.svelte'),
  types: () => import('../developers/types-page.svelte'),
  backups: () => import('../backups/backup-page.svelte'),
};

/** Screens that read the segments after their own. */
export const lazyScreensWithParts: Screens<{ parts: readonly string[] }> = {
  events: () => import('../events/event-list.svelte'),
  requests: () => import('../requests/request-list.svelte'),
  jobs: () => import('../jobs/job-list.svelte'),
  crons: () => import('../crons/cron-list.svelte'),
  'extension-jobs': () => import('../extension-jobs/extension-job-list.svelte'),
  settings: () => import('../settings/settings-page.svelte'),
};
