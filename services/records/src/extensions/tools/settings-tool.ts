import { forbidden, notFound } from '@recordbus/errors';
import { isSecretKey, isSettingKey, type Settings } from '@recordbus/settings';
import { z } from 'zod';
import { type Tool, tool } from './tool.ts';

/** `settings.get`: the effective text of a setting that is not a secret. */
export const settingsTools = (settings: Pick<Settings, 'all'>): Readonly<Record<string, Tool>> => ({
  'settings.get': tool(z.tuple([z.string()]), async (_call, [key]) => {
    if (!isSettingKey(key)) throw notFound('setting');
    if (isSecretKey(key)) throw forbidden('extensions cannot read secret settings');
    return settings.all()[key];
  }),
});
