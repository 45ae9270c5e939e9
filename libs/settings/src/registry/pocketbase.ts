import { z } from 'zod';
import { hostName } from './host-name.ts';
import { setting, settingGroup, unsetSetting } from './setting.ts';
import { commaList, flag } from './text-schemas.ts';

const noHosts: readonly string[] = [];
const maxHosts = 20;

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
});
