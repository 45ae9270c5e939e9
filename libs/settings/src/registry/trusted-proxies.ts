import { settingGroup, unsetSetting } from './setting.ts';
import { cidrList, commaList } from './text-schemas.ts';

const none: readonly string[] = [];

export const trustedProxies = settingGroup('Trusted proxies', ['gateway'], {
  'security.trusted_proxies': unsetSetting(
    cidrList.pipe(commaList),
    none,
    'Comma-separated CIDRs whose X-Forwarded-For is believed; overrides SERVICE_TRUSTED_PROXIES.',
  ),
});
