import type { Settings } from './settings.ts';

/** Returns the trusted proxies' CIDRs: from the setting, or from the environment (http §9.1). */
export function trustedProxiesOf(settings: Pick<Settings, 'get'>, ofEnvironment: readonly string[]): readonly string[] {
  const ofSetting = settings.get('security.trusted_proxies');
  return ofSetting.length > 0 ? ofSetting : ofEnvironment;
}
