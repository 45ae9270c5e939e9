import { wholeNumber } from '@recordbus/process/config';
import { z } from 'zod';
import { hostName } from './host-name.ts';
import { setting, settingGroup, unsetSetting } from './setting.ts';
import { commaList, flag } from './text-schemas.ts';

const noHosts: readonly string[] = [];
const maxHosts = 20;
/** Beyond this, a client reads its lists again anyway. */
const maxReplaySec = 300;

const hostNames = commaList
  .pipe(z.array(hostName).min(1, 'must name a host').max(maxHosts, `must have at most ${maxHosts} hosts`))
  .describe('comma-separated hosts');

export const pocketbase = settingGroup("PocketBase's clients", ['gateway', 'admin'], {
  'pocketbase.enabled': setting(flag, '0', "Whether PocketBase's clients can use this stack, at /pb."),
  'pocketbase.hosts': unsetSetting(
    hostNames,
    noHosts,
    "Hosts at which PocketBase's clients can use this stack without /pb, such as an app's earlier address.",
  ),
  'pocketbase.replay_s': setting(
    wholeNumber(0, maxReplaySec),
    '30',
    'How long after its connection broke a PocketBase client that comes back gets what it missed, in seconds; 0 switches it off.',
  ),
});
