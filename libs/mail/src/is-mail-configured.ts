import type { Settings } from '@recordbus/settings';

/** Can mail be sent: is it switched on, and are server and sender known (interface §2.7, Mail)? */
export const isMailConfigured = (settings: Pick<Settings, 'get'>): boolean =>
  settings.get('smtp.enabled') && settings.get('smtp.host') !== '' && settings.get('smtp.from') !== '';
