export { createFilteredClient } from './egress-client.ts';
export { templateVariables } from './registry/email-templates.ts';
export {
  isSettingKey,
  registry,
  type SettingKey,
  type SettingValue,
  settingGroups,
  settingKeys,
  settingOf,
} from './registry/index.ts';
export { type OauthProviderName, oauthProviderNames } from './registry/oauth-providers.ts';
export type { ServiceAccount } from './registry/push.ts';
export type { RateRule } from './registry/rate-rule.ts';
export { isSecretKey, type Setting, type SettingGroup } from './registry/setting.ts';
export { createSettings, type Settings, type SettingsDeps } from './settings.ts';
export { type SettingsPatch, settingsPatch } from './settings-patch.ts';
export { type PatchDeps, patchSettings } from './store.ts';
export { trustedProxiesOf } from './trusted-proxies.ts';
