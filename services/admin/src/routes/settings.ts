import { settingsPatch } from '@recordbus/settings';
import { ok, type Route, route } from '@recordbus/shared/http';
import { z } from 'zod';
import { authorOf } from '../audit/author.ts';
import { changeSettings, currentSettings, type SettingsDeps } from '../settings/change-settings.ts';
import { themeNames, themeOf } from '../settings/theme.ts';

const everySetting = z.record(z.string(), z.string());
const path = '/api/v1/admin/settings';

/** Reading and changing the settings, and the theme that the sign-in page needs before anyone has signed in. */
export const settingsRoutes = (deps: SettingsDeps): Route[] => [
  route({
    method: 'GET',
    path,
    access: 'admin',
    summary: 'Every setting, defaults included, secrets decrypted',
    answers: { 200: everySetting },
    handler: async () => ok(await currentSettings(deps)),
  }),
  route({
    method: 'PATCH',
    path,
    access: 'admin',
    summary: 'Change some settings, all or none; an empty string goes back to the default',
    body: settingsPatch,
    answers: { 200: everySetting, 422: 'names each key that is unknown or has a value it refuses' },
    handler: async (input) => ok(await changeSettings(deps, input.body, authorOf(input))),
  }),
  route({
    method: 'GET',
    path: '/api/v1/admin/theme',
    access: 'public',
    summary: 'The colours of the admin pages',
    answers: { 200: z.object(Object.fromEntries(themeNames.map((name) => [name, z.string()]))) },
    handler: () => ok(themeOf(deps.settings)),
  }),
];
