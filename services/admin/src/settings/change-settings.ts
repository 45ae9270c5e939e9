import { type PatchDeps, patchSettings, type SettingKey, type Settings, type SettingsPatch } from '@recordbus/settings';

export interface SettingsDeps extends PatchDeps {
  readonly settings: Settings;
}

/** Every setting as it counts now, whichever replica changed it last. */
export async function currentSettings({ settings }: SettingsDeps): Promise<Record<SettingKey, string>> {
  await settings.refresh();
  return settings.all();
}

/** Stores a patch and gives every setting as it counts after it. */
export async function changeSettings(deps: SettingsDeps, patch: SettingsPatch): Promise<Record<SettingKey, string>> {
  await patchSettings(deps, patch);
  return currentSettings(deps);
}
