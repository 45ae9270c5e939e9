import { rateRules } from './rate-rule.ts';
import { setting, settingGroup } from './setting.ts';
import { flag } from './text-schemas.ts';

const defaultRules = [
  { label: '*:auth', max: 10, windowMs: 3000, audience: 'all' },
  { label: '*:create', max: 60, windowMs: 5000, audience: 'all' },
  { label: '/api/*', max: 300, windowMs: 10_000, audience: 'all' },
];

export const rateLimit = settingGroup('Rate limiting', ['gateway'], {
  'rate_limit.enabled': setting(flag, '1', 'Switches all rate limits on or off.'),
  'rate_limit.rules': setting(
    rateRules,
    JSON.stringify(defaultRules),
    'JSON array of {label, max, windowMs, audience}; label is <path>[:<action>], or #<label> before it for service keys; audience is all, guest or auth.',
  ),
});
