import type { SettingKey } from '../../src/index.ts';
import { day, flag, type Row, whole, window } from '../row.ts';

const floored = (text: string, floor: number, max: number): Row => ({
  ...whole(text, floor, max),
  good: [
    ['0', floor],
    [String(floor - 1), floor],
    [String(floor), floor],
    [String(floor + 1), floor + 1],
    [String(max), max],
  ],
});

export const signInRows = {
  'auth.otp.enabled': flag('0'),
  'auth.mfa.enabled': flag('1'),
  'auth.passkeys.enabled': flag('1'),
  'auth.passkeys.rp_id': {
    text: '',
    good: [
      ['example.com', 'example.com'],
      ['Login.Example.com', 'login.example.com'],
      ['localhost', 'localhost'],
    ],
    bad: ['https://example.com', 'example.com:8080', '127.0.0.1', 'a b'].map((bad) => [bad, /must be a/]),
  },
  'auth.passkeys.origins': {
    text: '',
    value: [],
    good: [
      ['https://app.example.com', ['https://app.example.com']],
      [' https://APP.example.com , http://localhost:*', ['https://app.example.com', 'http://localhost:*']],
      [`android:apk-key-hash:${'a'.repeat(43)}`, [`android:apk-key-hash:${'a'.repeat(43)}`]],
    ],
    bad: ['*', 'app.example.com', 'https://app.example.com/', 'ftp://example.com', 'android:apk-key-hash:short'].map(
      (bad) => [bad, /is not an origin/],
    ),
  },
  'auth.anonymous.enabled': flag('0'),
  'auth.impersonation.enabled': flag('1'),
  'password.min_length': floored('12', 8, 256),
  'password.require_upper': flag('0'),
  'password.require_lower': flag('0'),
  'password.require_digit': flag('0'),
  'password.require_symbol': flag('0'),
  'password.hibp_check': flag('0'),
  'auth.lockout.max_attempts': whole('0', 0, 100_000),
  'auth.lockout.duration_seconds': floored('900', 60, 31_536_000),
  'auth.user.window_seconds': window(7 * day),
  'auth.admin.window_seconds': window(7 * day),
  'auth.anonymous.window_seconds': window(30 * day),
  'auth.impersonate.window_seconds': window(3600),
  'auth.refresh.window_seconds': window(7 * day),
  'auth.file.window_seconds': window(3600),
} satisfies Partial<Record<SettingKey, Row>>;
