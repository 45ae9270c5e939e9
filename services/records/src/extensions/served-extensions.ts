import { type HookedCollections, nothingHooked, storeHookedCollections } from '@recordbus/accounts';
import type { ExtensionsConfig } from '@recordbus/extension-host';
import { awaitDirectory } from '@recordbus/extension-host/await-directory';
import { storeCustomEvents } from '@recordbus/extension-host/custom-events';
import type { Route } from '@recordbus/http';
import type { RequestHandler } from '@recordbus/http/service';
import { whenWoken } from '@recordbus/process/background';
import type { Extensions, ExtensionsDeps } from './extensions.ts';

/** The wait before another attempt to store what the extensions declare, in milliseconds. */
const retryMs = 1000;

interface ServedDeps extends Omit<ExtensionsDeps, 'config'> {
  /** Creates the request handler for these routes. */
  readonly dispatch: (routes: readonly Route[]) => RequestHandler;
}

/** The service's extensions, if there are any. */
export interface ServedExtensions {
  /** Undefined without extensions. */
  readonly loaded: Extensions | undefined;
  /** Handles requests for extension routes; undefined without extensions. */
  readonly handle: RequestHandler | undefined;
  readonly hookedCollections: HookedCollections;
  onRoutesChange(listener: () => void): void;
  /**
   * Loads the extensions, if there are any, and stores which collections have hooks, and the declared events. If the directory does not exist
   * yet, the extensions are loaded when it does.
   */
  start(config: ExtensionsConfig | undefined): Promise<void>;
  stop(): Promise<void>;
}

/** Creates the service's extensions. Nothing is loaded before `start`. */
export function createServedExtensions({ dispatch, ...deps }: ServedDeps): ServedExtensions {
  const { database, bus, log } = deps;
  let loaded: Extensions | undefined;
  let handle: RequestHandler | undefined;
  let routesChanged = () => {};
  // Until they are stored, the auth service writes accounts without new hooks, so a failure is retried.
  const storing = whenWoken({ name: 'store what the extensions declare', log, retryMs, run: store });
  const findHooked = () => loaded?.hookedCollections ?? nothingHooked;
  const ending = new AbortController();
  let config: ExtensionsConfig | undefined;
  const loadingLate = whenWoken({ name: 'load the extensions', log, level: 'error', run: loadLate });

  async function store(): Promise<void> {
    await storeCustomEvents(database.query, loaded?.customEvents ?? []);
    if (await storeHookedCollections(database.query, findHooked())) bus.notify('account-hooks');
  }

  /** Applies the loaded extensions. */
  function follow({ routes }: Extensions): void {
    handle = dispatch(routes);
    routesChanged();
    bus.notify('routes');
    storing.wake();
  }

  async function load(found: ExtensionsConfig): Promise<Extensions> {
    // Imported here, so that a service without extensions does not load their code.
    const { startExtensions } = await import('./extensions.ts');
    const started = await startExtensions({ ...deps, config: found });
    loaded = started;
    handle = dispatch(started.routes);
    started.onChange(() => follow(started));
    return started;
  }

  async function loadLate(): Promise<void> {
    if (config && !ending.signal.aborted) follow(await load(config));
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
    async start(found) {
      config = found;
      if (found?.isAwaited)
        awaitDirectory(found.directory, { ending: ending.signal, log, onThere: () => loadingLate.wake() });
      else if (found) await load(found);
      await store();
    },
    async stop() {
      ending.abort();
      await loadingLate.stop();
      await storing.stop();
      await loaded?.stop();
    },
  };
}
