import type { Settings } from './settings.ts';

/** The CIDRs that count: those of the setting, else those of the environment. */
export function trustedProxiesOf(settings: Pick<Settings, 'get'>, ofEnvironment: readonly string[]): readonly string[] {
  const ofSetting = settings.get('security.trusted_proxies');
  return ofSetting.length > 0 ? ofSetting : ofEnvironment;
}
