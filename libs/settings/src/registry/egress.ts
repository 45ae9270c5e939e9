import { DEFAULT_DENY, validateDenyList } from '@recordbus/egress';
import { setting, settingGroup, unsetSetting } from './setting.ts';
import { cidrList, refusedBy } from './text-schemas.ts';

export const egress = settingGroup('Hook egress', ['webhooks', 'auth', 'records'], {
  'hooks.http.deny': setting(
    refusedBy(validateDenyList).describe('CIDR ranges and addresses, or off'),
    DEFAULT_DENY,
    'Comma-separated CIDRs to which nothing is sent; replaces the defaults, off disables the filter.',
  ),
  'hooks.http.allow': unsetSetting(cidrList, '', 'Comma-separated CIDRs that are exceptions to hooks.http.deny.'),
});
