import { variable } from '@recordbus/process/config';
import { settingGroup, unsetSetting } from './setting.ts';
import { cidrList, commaList } from './text-schemas.ts';

const cidrs = cidrList.pipe(commaList).describe('CIDR ranges and addresses');
const none: readonly string[] = [];

export const trustedProxies = settingGroup('Trusted proxies', ['gateway', 'auth'], {
  'security.trusted_proxies': unsetSetting(
    cidrs,
    none,
    'Comma-separated CIDRs for proxies whose X-Forwarded-For is trusted; overrides SERVICE_TRUSTED_PROXIES.',
  ),
});

/** The variable that the setting overrides (http §9.1). */
export const trustedProxiesVariable = variable(
  'SERVICE_TRUSTED_PROXIES',
  'Comma-separated CIDRs for proxies in front of the gateway, whose X-Forwarded-For is trusted; with them failed logins are also counted per client. The setting security.trusted_proxies overrides it.',
  cidrs.default(none),
);
