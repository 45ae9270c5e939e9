import { recordAudit } from '@recordbus/audit';
import { type PatchDeps, patchSettings, type SettingKey, type Settings, type SettingsPatch } from '@recordbus/settings';
import type { Author } from '../audit/author.ts';

export interface SettingsDeps extends PatchDeps {
  readonly settings: Settings;
}

/** Every setting as it counts now, whichever replica changed it last. */
export async function currentSettings({ settings }: SettingsDeps): Promise<Record<SettingKey, string>> {
  await settings.refresh();
  return settings.all();
}

/** Stores a patch and gives every setting as it counts after it. The audit row names the keys, never their values. */
export async function changeSettings(
  deps: SettingsDeps,
  patch: SettingsPatch,
  author: Author,
): Promise<Record<SettingKey, string>> {
  await patchSettings(deps, patch, (query, keys) =>
    recordAudit(query, { ...author, action: 'settings.update', details: { keys } }),
  );
  return currentSettings(deps);
}
