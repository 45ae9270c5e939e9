import type { AccountHooks, HookedAccounts } from '@recordbus/accounts';
import type { Bus, EventStream } from '@recordbus/bus';
import { createExtensionHost, type ExtensionsConfig } from '@recordbus/extension-host';
import { createNotifier, type NotifierDeps } from '@recordbus/notifications';
import { createFilteredClient, type Settings } from '@recordbus/settings';
import type { Route } from '@recordbus/shared/http';
import type { Logger } from '@recordbus/shared/logging';
import type { RouteDeps } from '../routes/route-deps.ts';
import { createScheduler, type Scheduler } from './crons/scheduler.ts';
import { createAfterHooks } from './hooks/after-hooks.ts';
import { type BeforeHooks, createBeforeHooks } from './hooks/before-hooks.ts';
import { hookedAccountsOf } from './hooks/hooked-accounts.ts';
import { createSignInHooks } from './hooks/sign-in-hooks.ts';
import { startHousekeeping } from './housekeeping.ts';
import { extensionRoutes } from './routes/extension-routes.ts';
import { dispatchTools } from './tools/dispatch-tool.ts';
import { fetchTools } from './tools/fetch-tool.ts';
import { kvTools } from './tools/kv-tools.ts';
import { mailTools } from './tools/mail-tool.ts';
import { notificationTools } from './tools/notification-tool.ts';
import { recordsTools } from './tools/records-tools.ts';
import { settingsTools } from './tools/settings-tool.ts';
import { createToolbox, type Toolbox } from './tools/toolbox.ts';

/** The extensions as the service sees them. */
export interface Extensions {
  readonly beforeHooks: BeforeHooks;
  readonly beforeSignIn: AccountHooks['beforeSignIn'];
  /** As they are now. */
  readonly hookedAccounts: HookedAccounts;
  readonly scheduler: Pick<Scheduler, 'crons' | 'runNow'>;
  /** As they are now. */
  readonly routes: readonly Route[];
  onChange(listener: () => void): void;
  stop(): Promise<void>;
}

interface ExtensionsDeps {
  readonly config: ExtensionsConfig;
  readonly records: Omit<RouteDeps, 'hooks'>;
  readonly settings: Settings;
  readonly bus: Bus;
  readonly stream: EventStream;
  /** Where push notification providers are asked. */
  readonly urls: NotifierDeps['urls'];
  readonly log: Logger;
}

/** Loads the extensions of the directory and puts them to work; the settings must have been loaded. */
export async function startExtensions({
  config,
  records,
  settings,
  bus,
  stream,
  urls,
  log,
}: ExtensionsDeps): Promise<Extensions> {
  const host = createExtensionHost({ ...config, log });
  const client = createFilteredClient(settings);
  const { query } = records.database;
  // Tools write, writes have hooks, and hooks have tools.
  const toolbox: Toolbox = (extension, scope) => tools(extension, scope);
  const beforeHooks = createBeforeHooks({ host, toolbox });
  const tools = createToolbox({
    ...recordsTools({ ...records, beforeHooks }),
    ...dispatchTools({ query, schema: records.schema, wakeRelay: records.wakeRelay }),
    ...fetchTools(client),
    ...kvTools(query),
    ...mailTools({ query, settings, bus }),
    ...notificationTools(createNotifier({ settings, client, urls })),
    ...settingsTools(settings),
  });
  const readRoutes = () => extensionRoutes({ host, toolbox, query, schema: records.schema, log });
  const afterHooks = createAfterHooks({ host, toolbox, bus, stream, query, log });
  const scheduler = createScheduler({ host, toolbox, database: records.database, log });
  await host.start();
  let routes = readRoutes();
  let hookedAccounts = hookedAccountsOf(host.extensions);
  void afterHooks.renew();
  scheduler.renew();
  const housekeeping = startHousekeeping(query, log);
  host.onChange(() => {
    routes = readRoutes();
    hookedAccounts = hookedAccountsOf(host.extensions);
    void afterHooks.renew();
    scheduler.renew();
  });
  return {
    beforeHooks,
    beforeSignIn: createSignInHooks(host, toolbox),
    get hookedAccounts() {
      return hookedAccounts;
    },
    scheduler,
    get routes() {
      return routes;
    },
    onChange: host.onChange,
    async stop() {
      housekeeping.stop();
      scheduler.stop();
      await afterHooks.stop();
      await host.stop();
      await client.close();
    },
  };
}
