import { choice, item, lines, number, type Section, time } from './section.ts';

/** The server takes any text, and uses the default for one outside these bounds (auth §9.1). */
const lifetime = { kind: 'time', unit: 's', min: 60, max: 31_536_000 } as const;

export const signIn: Section = {
  name: 'Sign-in',
  about: 'How users sign up and sign in.',
  parts: [
    {
      settings: [
        item(
          'auth.sign_up.<collection>',
          'Sign-up in <collection>',
          'Who may create an account. Existing accounts sign in either way.',
          choice({ open: 'Everyone', closed: 'Only admins create accounts' }),
        ),
        item(
          'auth.identity.<collection>',
          'Sign-in names in <collection>',
          'Unique fields that name an account in addition to its email address, one in each line.',
          lines('username'),
        ),
        item(
          'auth.methods.<collection>',
          'Ways to sign in to <collection>',
          'The only ways, one in each line: password, otp, oauth2, passkey, anonymous, or none. Empty: every way that is on.',
          lines('oauth2'),
        ),
        item(
          'auth.captcha.<collection>',
          'Captcha in <collection>',
          'What guests solve before they sign up, sign in, or ask for a mail. ALTCHA needs nobody else. JSON with provider, on, open, hostnames and verify_url.',
          lines('{"provider": "altcha", "on": ["register"]}'),
        ),
        item(
          'auth.captcha.<collection>.secret',
          'Captcha secret in <collection>',
          'The secret key from Turnstile or hCaptcha.',
        ),
        item(
          'auth.mfa.required.<collection>',
          'Second factor required in <collection>',
          'Who must have one: an expression over the account, such as role = "staff". They set it up at the next sign-in.',
        ),
        item(
          'auth.mfa.email.<collection>',
          'Mailed second factor in <collection>',
          'After a password or a provider, users without an authenticator app type a mailed code. Needs mail.',
        ),
        item('auth.otp.enabled', 'Mailed codes', 'Sign-in by a one-time code or link in a mail. Needs mail.'),
        item(
          'auth.mfa.enabled',
          'Authenticator apps',
          'Users may set up a second factor. Those who have one need it even while this is off.',
        ),
        item(
          'auth.passkeys.enabled',
          'Passkeys',
          'People sign in with a fingerprint, a face, a PIN or a security key.',
        ),
        item(
          'auth.passkeys.rp_id',
          'Domain of passkeys',
          'They work on it and its subdomains. Another domain ends every passkey. Empty: the host of your frontend.',
        ),
        item(
          'auth.passkeys.origins',
          'Pages with passkeys',
          'Origins, one in each line. Empty: your frontend.',
          lines('https://app.example.com'),
        ),
        item(
          'auth.anonymous.enabled',
          'Anonymous accounts',
          'Visitors get an account without an address, and may keep it later.',
        ),
        item('auth.impersonation.enabled', 'Act as a user', 'Admins may see what a user sees.'),
      ],
    },
    {
      title: 'Lockout after wrong passwords',
      settings: [
        item(
          'auth.lockout.max_attempts',
          'Wrong passwords',
          'How many an address or a client may try before it is locked out. 0 means no limit.',
          number('attempts'),
        ),
        item('auth.lockout.duration_seconds', 'Locked out for', 'At least one minute.', time('s')),
      ],
    },
  ],
};

export const passwords: Section = {
  name: 'Passwords',
  about: 'What a new password must have. Existing passwords stay valid.',
  parts: [
    {
      settings: [
        item('password.min_length', 'Shortest password', 'Less than 8 counts as 8.', number('characters')),
        item('password.require_upper', 'Upper-case letter', 'At least one is required.'),
        item('password.require_lower', 'Lower-case letter', 'At least one is required.'),
        item('password.require_digit', 'Digit', 'At least one is required.'),
        item('password.require_symbol', 'Symbol', 'A character that is neither letter nor digit is required.'),
        item(
          'password.hibp_check',
          'Refuse leaked passwords',
          'Asks haveibeenpwned.com. Only 5 characters of a hash leave this server.',
        ),
      ],
    },
  ],
};

export const sessions: Section = {
  name: 'Sessions',
  about: 'How long a sign-in lasts. Each lifetime is between 1 minute and 365 days.',
  parts: [
    {
      settings: [
        item(
          'auth.user.window_seconds',
          'Users',
          'After this time a user signs in again, unless the app refreshes the session.',
          lifetime,
        ),
        item('auth.admin.window_seconds', 'Admins', 'After this time an admin signs in again.', lifetime),
        item('auth.refresh.window_seconds', 'Refreshed sessions', 'How long a refresh extends a session.', lifetime),
        item('auth.anonymous.window_seconds', 'Anonymous accounts', 'How long an anonymous session lasts.', lifetime),
        item('auth.impersonate.window_seconds', 'Acting as a user', 'How long an admin may act as a user.', lifetime),
        item('auth.file.window_seconds', 'File links', 'How long a token for protected files is valid.', lifetime),
      ],
    },
  ],
};
