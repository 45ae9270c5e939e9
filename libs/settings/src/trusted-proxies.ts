import type { Settings } from './settings.ts';

/** Returns the CIDRs of the trusted proxies: those of the setting, else those of the environment (http §9.1). */
export function trustedProxiesOf(settings: Pick<Settings, 'get'>, ofEnvironment: readonly string[]): readonly string[] {
  const ofSetting = settings.get('security.trusted_proxies');
  return ofSetting.length > 0 ? ofSetting : ofEnvironment;
}
