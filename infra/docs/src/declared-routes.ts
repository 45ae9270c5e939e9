import { createAdmin } from '@recordbus/admin';
import { createAuth } from '@recordbus/auth';
import { gatewayRoutes } from '@recordbus/gateway';
import { createRecords } from '@recordbus/records';
import { describeRoutes, type RouteManifest } from '@recordbus/shared/http';
import { createWebhooks } from '@recordbus/webhooks';
import { absent } from './absent.ts';

/** Every route that the services declare; what a deployment adds by extensions is not among them. */
export const declaredRoutes = (): RouteManifest[] => {
  const services = [
    createAuth({ ...parts(), config: absent() }),
    createRecords({ ...parts(), storage: absent(), config: absent() }),
    createAdmin({ ...parts(), config: absent() }),
    createWebhooks(parts()),
  ];
  return describeRoutes([...services.flatMap(({ routes }) => routes), ...gatewayRoutes(absent())]);
};

/** What every service stands on. */
const parts = () => ({
  log: absent<never>(),
  database: absent<never>(),
  bus: absent<never>(),
  envelope: absent<never>(),
  secret: new Uint8Array(32),
});
