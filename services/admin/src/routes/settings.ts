import { ok, type Route, route } from '@recordbus/http';
import { loadCollections } from '@recordbus/schema';
import { settingsPatch, settingsPatchSchema } from '@recordbus/settings';
import { z } from 'zod';
import { actorOf } from '../audit/actor.ts';
import { changeSettings, currentSettings, type SettingsDeps } from '../settings/change-settings.ts';
import { describeSettings, settingGroupDescription } from '../settings/describe-settings.ts';
import { themeNames, themeOf } from '../settings/theme.ts';

const everySetting = z.record(z.string(), z.string());
const path = '/api/v1/admin/settings';

/** Routes for the settings (settings §1), and for the theme, which the sign-in page reads without a token. */
export const settingsRoutes = (deps: SettingsDeps): Route[] => [
  route({
    method: 'GET',
    path,
    access: 'admin',
    scope: 'settings:read',
    summary: 'Get all settings, defaults included, secrets decrypted',
    answers: { 200: everySetting },
    handler: async () => ok(await currentSettings(deps)),
  }),
  route({
    method: 'GET',
    path: `${path}/groups`,
    access: 'admin',
    scope: 'settings:read',
    summary: 'Get all settings by subject with their descriptions, without secret values',
    answers: { 200: z.array(settingGroupDescription) },
    async handler() {
      const { collections } = await loadCollections(deps.database.read);
      return ok(describeSettings(await currentSettings(deps), collections));
    },
  }),
  route({
    method: 'PATCH',
    path,
    access: 'admin',
    scope: 'settings:write',
    summary: 'Change settings, all or none; an empty string restores the default',
    body: settingsPatch,
    described: { body: settingsPatchSchema },
    answers: {
      200: everySetting,
      422: 'names each key that is unknown, has a refused value or names a missing collection',
    },
    handler: async (input) => ok(await changeSettings(deps, input.body, actorOf(input))),
  }),
  route({
    method: 'GET',
    path: '/api/v1/admin/theme',
    access: 'public',
    scope: 'any',
    summary: "Get the admin pages' colours",
    answers: { 200: z.object(Object.fromEntries(themeNames.map((name) => [name, z.string()]))) },
    handler: () => ok(themeOf(deps.settings)),
  }),
];
