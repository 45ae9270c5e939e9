import { setting, settingGroup } from './setting.ts';
import { signUpFamilies } from './sign-up.ts';
import { flag } from './text-schemas.ts';

export const authFeatures = settingGroup(
  'Auth features',
  ['auth', 'records'],
  {
    'auth.otp.enabled': setting(flag, '0', 'One-time code and magic link; needs mail.'),
    'auth.mfa.enabled': setting(flag, '1', 'New TOTP enrolment; enrolled users sign in with it either way.'),
    'auth.anonymous.enabled': setting(flag, '0', 'Anonymous sign-in.'),
    'auth.impersonation.enabled': setting(flag, '1', 'Admins may act as a user.'),
  },
  signUpFamilies,
);
