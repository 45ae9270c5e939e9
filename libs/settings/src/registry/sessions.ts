import { z } from 'zod';
import { setting, settingGroup } from './setting.ts';

const hourSec = 3600;
const daySec = 86_400;
const minSec = 60;
const maxSec = 365 * daySec;

/** Declares a session window. Any text is stored; one that is not 60 s to 365 days means the default (auth §9.1). */
function windowSetting(defaultSec: number, about: string) {
  const schema = z.string().transform((text) => {
    const seconds = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return seconds >= minSec && seconds <= maxSec ? seconds : defaultSec;
  });
  return setting(schema, String(defaultSec), `${about}, in seconds; 60 to ${maxSec}, anything else means the default.`);
}

export const sessions = settingGroup('Session lifetimes', ['auth', 'admin', 'records'], {
  'auth.user.window_seconds': windowSetting(7 * daySec, "Lifetime of a user's token"),
  'auth.admin.window_seconds': windowSetting(7 * daySec, "Lifetime of an admin's token"),
  'auth.anonymous.window_seconds': windowSetting(30 * daySec, "Lifetime of an anonymous user's token"),
  'auth.impersonate.window_seconds': windowSetting(hourSec, 'Lifetime of a token with which an admin acts as a user'),
  'auth.refresh.window_seconds': windowSetting(7 * daySec, 'Lifetime of a refreshed user or admin token'),
  'auth.file.window_seconds': windowSetting(hourSec, 'Lifetime of a file token'),
});
