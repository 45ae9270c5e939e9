import { type HookedCollections, nothingHooked, storeHookedCollections } from '@recordbus/accounts';
import type { ExtensionsConfig } from '@recordbus/extension-host';
import { whenWoken } from '@recordbus/shared/background';
import type { Route } from '@recordbus/shared/http';
import type { RequestHandler } from '@recordbus/shared/service';
import type { Extensions, ExtensionsDeps } from './extensions.ts';

/** The wait before another attempt to store the hooks of accounts, in milliseconds. */
const retryMs = 1000;

interface ServedDeps extends Omit<ExtensionsDeps, 'config'> {
  /** Creates the handler of requests for these routes. */
  readonly dispatch: (routes: readonly Route[]) => RequestHandler;
}

/** The extensions of the service, if there are any. */
export interface ServedExtensions {
  /** Undefined without extensions. */
  readonly loaded: Extensions | undefined;
  /** Handles requests for routes of extensions; undefined without extensions. */
  readonly handle: RequestHandler | undefined;
  readonly hookedCollections: HookedCollections;
  onRoutesChange(listener: () => void): void;
  /** Loads the extensions, if there are any, and stores which collections have hooks. */
  start(config: ExtensionsConfig | undefined): Promise<void>;
  stop(): Promise<void>;
}

/** Creates the extensions of the service. Nothing is loaded before `start`. */
export function createServedExtensions({ dispatch, ...deps }: ServedDeps): ServedExtensions {
  const { database, bus, log } = deps;
  let loaded: Extensions | undefined;
  let handle: RequestHandler | undefined;
  let routesChanged = () => {};
  // Until they are stored, the auth service writes accounts without new hooks, so a failure is retried.
  const storingHooks = whenWoken({ name: 'store the hooks of accounts', log, retryMs, run: notifyAuth });
  const findHooked = () => loaded?.hookedCollections ?? nothingHooked;

  async function notifyAuth(): Promise<void> {
    if (await storeHookedCollections(database.query, findHooked())) bus.notify('account-hooks');
  }

  async function load(config: ExtensionsConfig): Promise<void> {
    // Imported here, so that a service without extensions does not load their code.
    const { startExtensions } = await import('./extensions.ts');
    const started = await startExtensions({ ...deps, config });
    loaded = started;
    handle = dispatch(started.routes);
    started.onChange(() => {
      handle = dispatch(started.routes);
      routesChanged();
      bus.notify('routes');
      storingHooks.wake();
    });
  }

  return {
    get loaded() {
      return loaded;
    },
    get handle() {
      return handle;
    },
    get hookedCollections() {
      return findHooked();
    },
    onRoutesChange(listener) {
      routesChanged = listener;
    },
    async start(config) {
      if (config) await load(config);
      await notifyAuth();
    },
    async stop() {
      await storingHooks.stop();
      await loaded?.stop();
    },
  };
}
