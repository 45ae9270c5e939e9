import type { Client } from '../clients/client.ts';
import { eventually } from '../eventually.ts';
import { listAt } from '../json.ts';

const settingsPath = '/api/v1/admin/settings';

/**
 * Makes an admin's changes of settings wait until every process follows, which takes up to a second (settings §2). A
 * test's next request may reach another process than the change did.
 */
export const followedEverywhere = (admin: Client): Client => ({
  ...admin,
  async send(method, path, sending) {
    const answer = await admin.send(method, path, sending);
    if (method === 'PATCH' && path === settingsPath && answer.status === 200) await untilFollowed(admin);
    return answer;
  },
  async patch(path, body, status) {
    const data = await admin.patch(path, body, status);
    if (path === settingsPath && status === undefined) await untilFollowed(admin);
    return data;
  },
});

/** The process that answered the change is the first with the newest version. */
const untilFollowed = (admin: Client): Promise<boolean> =>
  eventually('every process follows the settings', async () => new Set(await versionsInUse(admin)).size < 2);

async function versionsInUse(admin: Client): Promise<readonly unknown[]> {
  const families = listAt((await admin.get('/_/metrics')).json, 'data');
  return families
    .filter(({ name }) => name === 'recordbus_settings_version')
    .flatMap((family) => listAt(family, 'samples').map(({ value }) => value));
}
