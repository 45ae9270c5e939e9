export { createFilteredClient } from './egress-client.ts';
export type { CaptchaDoor, CaptchaSetting } from './registry/captcha.ts';
export { type ChannelRule, channelRules } from './registry/channel-rule.ts';
export {
  collectionFamilies,
  type FamilyKey,
  findNamedKey,
  isSecretKey,
  namedKey,
  settingFamilies,
} from './registry/families.ts';
export { isSettingKey, registry, type SettingKey, settingGroups, settingKeys, settingOf } from './registry/index.ts';
export { type OauthProviderName, oauthProviderNames } from './registry/oauth-providers.ts';
export { type ApiAudience, admitReader } from './registry/openapi.ts';
export { admitsOrigin } from './registry/origin.ts';
export type { ProfileMap, ProfileMember } from './registry/profile-map.ts';
export type { ServiceAccount } from './registry/push.ts';
export type { RateRule } from './registry/rate-rule.ts';
export type { Setting } from './registry/setting.ts';
export type { WayIn } from './registry/sign-up.ts';
export { findOwnerUrlProblem, mayOwnersGet, type WebhookOwners } from './registry/webhook-owners.ts';
export { whatItTakes } from './registry/what-it-takes.ts';
export { createSettings, type Settings, type SettingsDeps } from './settings.ts';
export { defaultTextOf, isStateKey, type SettingsPatch, settingsPatch, settingsPatchSchema } from './settings-patch.ts';
export {
  type ChangedSettings,
  type PatchDeps,
  patchSettings,
  readChangedSettings,
  storePatch,
  warnOfPlainTexts,
} from './store.ts';
export { trustedProxiesOf } from './trusted-proxies.ts';
