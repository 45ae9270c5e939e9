import { wholeNumber } from '@recordbus/process/config';
import { channelRules } from './channel-rule.ts';
import { setting, settingGroup } from './setting.ts';

export const realtime = settingGroup('Live connections', ['realtime'], {
  'realtime.max_connections_per_principal': setting(
    wholeNumber(1, 1_000_000),
    '20',
    'Maximum live connections for one account on a replica.',
  ),
  'realtime.max_connections_per_address': setting(
    wholeNumber(1, 1_000_000),
    '100',
    'Maximum live connections for one address on a replica.',
  ),
  'realtime.channels': setting(
    channelRules,
    '[]',
    'JSON array of {pattern, publish_rule, subscribe_rule}; the first pattern that matches a channel decides.',
  ),
});
