import { rmSync } from 'node:fs';
import { after } from 'node:test';
import { startPushServer } from '../harness/servers/push-server.ts';
import { onEachTopology, stackEnvironment } from '../harness/stacks/target.ts';
import { accountHooks } from './extensions/account-hooks.ts';
import { descriptions } from './extensions/descriptions.ts';
import { copyExtensions } from './extensions/extensions-directory.ts';
import { notifications } from './extensions/notifications.ts';
import { rateLimits } from './extensions/rate-limits.ts';
import { reloading } from './extensions/reloading.ts';
import { routes } from './extensions/routes.ts';
import { signInHooks } from './extensions/sign-in-hooks.ts';
import { tools } from './extensions/tools.ts';

/**
 * The services with the extensions in `tests/extensions/working`, on one stack for each topology. Admins' test
 * notifications go to the same push server.
 */
const directory = copyExtensions('working');
stackEnvironment.SERVICE_EXTENSIONS_DIR = directory;
stackEnvironment.EXTENSION_COLOUR = 'green';
const push = await startPushServer();
stackEnvironment.SERVICE_ONESIGNAL_URL = push.url;
stackEnvironment.SERVICE_FCM_URL = push.url;
after(async () => {
  await push[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

onEachTopology('extension routes', routes);
onEachTopology('rate limits on extension routes', rateLimits);
onEachTopology('the API document for extension routes', descriptions);
onEachTopology('sign-in hooks', signInHooks);
onEachTopology("admins' test notifications", (t, target) => notifications(t, target, push));
onEachTopology('extension tools', (t, target) => tools(t, target, push));
// A hook that hangs and a file that cannot be loaded are logged as errors. Tables refuse logged errors, so none follows.
onEachTopology('before hooks on accounts', accountHooks);
onEachTopology('changed extensions', (t, target) => reloading(t, target, directory));
