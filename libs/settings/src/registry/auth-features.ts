import { captchaFamilies } from './captcha.ts';
import { hostName } from './host-name.ts';
import { passkeyOrigins } from './passkey-origins.ts';
import { secondFactorFamilies } from './second-factors.ts';
import { setting, settingGroup, unsetSetting } from './setting.ts';
import { signUpFamilies } from './sign-up.ts';
import { flag } from './text-schemas.ts';

export const authFeatures = settingGroup(
  'Auth features',
  ['auth', 'records'],
  {
    'auth.otp.enabled': setting(flag, '0', 'Sign-in by one-time code and magic link; needs mail.'),
    'auth.mfa.enabled': setting(
      flag,
      '1',
      'Users may set up an authenticator app. Users who have one sign in with it even while this is 0.',
    ),
    'auth.passkeys.enabled': setting(flag, '1', 'Passkeys may be added, and sign in. 0 removes none.'),
    'auth.passkeys.rp_id': unsetSetting(
      hostName.refine((text) => !/:|^[0-9.]+$/.test(text), 'must be a domain, without a port'),
      '',
      "Domain that passkeys belong to, such as example.com: they work on it and its subdomains. Another one ends every passkey. Empty: app.url's host, or localhost.",
    ),
    'auth.passkeys.origins': unsetSetting(
      passkeyOrigins,
      [],
      'Comma-separated origins of the pages and apps that may use passkeys. Empty: the origin of app.url; on localhost every port.',
    ),
    'auth.anonymous.enabled': setting(flag, '0', 'Anonymous sign-in.'),
    'auth.impersonation.enabled': setting(flag, '1', 'Admins may act as a user.'),
  },
  { ...signUpFamilies, ...captchaFamilies, ...secondFactorFamilies },
);
