import type { Component } from 'svelte';

/** Loads a screen when it first opens. The screen gets the address segments after its own as `parts`. */
export type LoadScreen = () => Promise<{ readonly default: Component<Record<string, unknown>> }>;

/** Screens by their address's first segment. Each is a separate chunk. */
export const lazyScreens: Readonly<Record<string, LoadScreen>> = {
  events: () => import('../events/event-list.svelte'),
  health: () => import('../operations/health-page.svelte'),
  requests: () => import('../requests/request-list.svelte'),
  audit: () => import('../audit/audit-list.svelte'),
  jobs: () => import('../jobs/job-list.svelte'),
  crons: () => import('../crons/cron-list.svelte'),
  'extension-jobs': () => import('../extension-jobs/extension-job-list.svelte'),
  mails: () => import('../mails/mail-list.svelte'),
  settings: () => import('../settings/settings-page.svelte'),
  'move-in': () => import('../moves/move-page.svelte'),
  schema: () => import('../developers/schema-page.svelte'),
  types: () => import('../developers/types-page.svelte'),
  backups: () => import('../backups/backup-page.svelte'),
};
