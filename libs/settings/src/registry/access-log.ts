import { wholeNumber } from '@recordbus/process/config';
import { z } from 'zod';
import { setting, settingGroup } from './setting.ts';

export const accessLog = settingGroup('Access log', ['gateway'], {
  'logs.access': setting(
    z.enum(['notable', 'all', 'off'], 'must be notable, all or off'),
    'notable',
    'Which requests the gateway logs: notable (refusals and slow ones, at most 120 a minute), all or off.',
  ),
  'logs.slow_ms': setting(wholeNumber(1, 600_000), '1000', 'A request counts as slow from this many milliseconds on.'),
});
