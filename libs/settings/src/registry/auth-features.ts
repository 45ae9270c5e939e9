import { captchaFamilies } from './captcha.ts';
import { setting, settingGroup } from './setting.ts';
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
    'auth.anonymous.enabled': setting(flag, '0', 'Anonymous sign-in.'),
    'auth.impersonation.enabled': setting(flag, '1', 'Admins may act as a user.'),
  },
  { ...signUpFamilies, ...captchaFamilies },
);
