import { accessLog } from './access-log.ts';
import { authFeatures } from './auth-features.ts';
import { backups } from './backups.ts';
import { cors } from './cors.ts';
import { egress } from './egress.ts';
import { emailTemplates } from './email-templates.ts';
import { events } from './events.ts';
import { files } from './files.ts';
import { http } from './http.ts';
import { lockout } from './lockout.ts';
import { inboundMail, mail } from './mail.ts';
import { metrics } from './metrics.ts';
import { oauthProviders } from './oauth-providers.ts';
import { openapi } from './openapi.ts';
import { passwordPolicy } from './password-policy.ts';
import { pocketbase } from './pocketbase.ts';
import { push } from './push.ts';
import { rateLimit } from './rate-limit.ts';
import { realtime } from './realtime.ts';
import { records } from './records.ts';
import { retention } from './retention.ts';
import { sessions } from './sessions.ts';
import type { Setting } from './setting.ts';
import { theme } from './theme.ts';
import { trustedProxies } from './trusted-proxies.ts';
import { updateCheck } from './update-check.ts';
import { webhooks } from './webhooks.ts';

/** Every setting, by subject, as docs/settings.md orders them (settings §5). */
export const settingGroups = [
  rateLimit,
  mail,
  inboundMail,
  emailTemplates,
  authFeatures,
  cors,
  http,
  openapi,
  passwordPolicy,
  lockout,
  trustedProxies,
  metrics,
  theme,
  updateCheck,
  egress,
  oauthProviders,
  push,
  sessions,
  webhooks,
  retention,
  backups,
  events,
  accessLog,
  files,
  records,
  realtime,
  pocketbase,
] as const;

type Groups = (typeof settingGroups)[number]['settings'];
type Intersection<U> = (U extends unknown ? (member: U) => void : never) extends (member: infer I) => void ? I : never;

/** Every setting's declaration by its key. */
type Registry = Intersection<Groups>;
export type SettingKey = keyof Registry;
export type SettingValue<K extends SettingKey> = Registry[K] extends Setting<infer T> ? T : never;

export const registry = Object.assign({}, ...settingGroups.map(({ settings }) => settings)) as Registry;

export const settingKeys = Object.keys(registry) as readonly SettingKey[];

/** Returns a key's declaration without its value type. */
export const settingOf = (key: SettingKey): Setting<unknown> => registry[key];

/** Whether the text is a setting's key. */
export const isSettingKey = (key: string): key is SettingKey => Object.hasOwn(registry, key);
