import { variable } from '@recordbus/shared/config';
import { settingGroup, unsetSetting } from './setting.ts';
import { cidrList, commaList } from './text-schemas.ts';

const cidrs = cidrList.pipe(commaList).describe('CIDR ranges and addresses');
const none: readonly string[] = [];

export const trustedProxies = settingGroup('Trusted proxies', ['gateway', 'auth'], {
  'security.trusted_proxies': unsetSetting(
    cidrs,
    none,
    'Comma-separated CIDRs whose X-Forwarded-For is believed; overrides SERVICE_TRUSTED_PROXIES.',
  ),
});

/** What the setting overrides. */
export const trustedProxiesVariable = variable(
  'SERVICE_TRUSTED_PROXIES',
  'Comma-separated CIDRs of the proxies before the gateway, whose X-Forwarded-For is believed; with them failed logins are counted per client too. The setting security.trusted_proxies overrides it.',
  cidrs.default(none),
);
