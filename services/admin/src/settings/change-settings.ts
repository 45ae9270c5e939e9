import { recordAudit } from '@recordbus/audit';
import { loadCollections } from '@recordbus/schema';
import { type PatchDeps, patchSettings, type Settings, type SettingsPatch } from '@recordbus/settings';
import type { Actor } from '../audit/actor.ts';
import { requireOwnNetworks } from '../keys/bounds.ts';
import { checkChannelsOf } from './check-channels.ts';
import { checkCollectionsOf } from './check-collections.ts';
import { checkTemplatesOf } from './check-templates.ts';

export interface SettingsDeps extends PatchDeps {
  readonly settings: Settings;
}

/** Returns every setting, including changes that other replicas made last. */
export async function currentSettings({ settings }: SettingsDeps): Promise<Record<string, string>> {
  await settings.refresh();
  return settings.all();
}

/**
 * Stores a patch and returns every setting after it. The audit row names the keys, never their values (settings §1.6).
 * Throws 403 when a key with networks sets the trusted proxies, 422 for keys naming missing collections, for channel
 * rules that cannot be evaluated, and for mail templates with parts that are never filled.
 */
export async function changeSettings(
  deps: SettingsDeps,
  patch: SettingsPatch,
  actor: Actor,
): Promise<Record<string, string>> {
  await patchSettings(deps, patch, async (query, keys) => {
    await requireOwnNetworks(query, actor, keys);
    const { collections } = await loadCollections(query);
    checkCollectionsOf(patch, collections);
    checkChannelsOf(patch, collections);
    checkTemplatesOf(patch);
    await recordAudit(query, { ...actor, action: 'settings.update', details: { keys } });
  });
  return currentSettings(deps);
}
