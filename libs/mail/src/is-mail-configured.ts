import type { Settings } from '@recordbus/settings';

/** Whether mail is switched on and has a server and a sender (mail §1.2). */
export const isMailConfigured = (settings: Pick<Settings, 'get'>): boolean =>
  settings.get('smtp.enabled') && settings.get('smtp.host') !== '' && settings.get('smtp.from') !== '';
