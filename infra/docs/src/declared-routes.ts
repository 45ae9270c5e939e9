import { createAdmin } from '@recordbus/admin';
import { createAuth } from '@recordbus/auth';
import { gatewayRoutes } from '@recordbus/gateway';
import { describeRoutes, type Route, type RouteManifest } from '@recordbus/http';
import { createRealtime } from '@recordbus/realtime';
import { createRecords } from '@recordbus/records';
import { createWebhooks } from '@recordbus/webhooks';

/** Every route that the services declare, without extension routes, as data. */
export const declaredRoutes = (): RouteManifest[] => describeRoutes(allRoutes());

/** The same routes with their schemas. */
export const allRoutes = (): Route[] => {
  const services = [
    createAuth({ ...parts(), config: inertPart() }),
    createRecords({
      ...parts(),
      storage: inertPart(),
      backups: inertPart(),
      moves: inertPart(),
      config: inertPart(),
    }),
    createAdmin({ ...parts(), config: inertPart() }),
    createWebhooks(parts()),
    createRealtime({ ...parts(), live: inertPart() }),
  ];
  return [...services.flatMap(({ routes }) => routes), ...gatewayRoutes(inertPart())];
};

/** Every service's dependencies. */
const parts = () => ({
  log: inertPart<never>(),
  database: inertPart<never>(),
  bus: inertPart<never>(),
  settings: inertPart<never>(),
  collections: inertPart<never>(),
  cipher: inertPart<never>(),
  secret: new Uint8Array(32),
});

const nothing: unknown = new Proxy(() => nothing, {
  get: (_, member) => (member === Symbol.toPrimitive ? () => '' : nothing),
});

/**
 * Returns a stand-in for a part of the running system, for code that only reads declarations. Its members can be read
 * and called without effect.
 */
const inertPart = <T>(): T => nothing as T;
