import { createContextSealer } from '@recordbus/shared/context';
import { listen } from '@recordbus/shared/http';
import { announceReady, runProcess } from '@recordbus/shared/run-service';
import { loadTokenSecret } from '@recordbus/tokens';
import { createGateway, httpUpstream } from './app.ts';
import { gatewayVariables } from './config.ts';

await runProcess('gateway', gatewayVariables, async ({ config, log, lifecycle }) => {
  const secret = loadTokenSecret(config);
  const sealer = createContextSealer(secret);
  const upstreams = (['auth', 'records', 'admin', 'webhooks'] as const).map((name) =>
    httpUpstream({ name, url: config[name], sealer, log }),
  );
  const gateway = createGateway({ log, secret, upstreams });
  lifecycle.onStop('gateway', () => gateway.stop());
  await gateway.start();
  const server = await listen(gateway.app, config);
  lifecycle.onStop('requests', () => server.close());
  log.info({ url: server.url }, 'listening');
  announceReady({ name: 'gateway', url: server.url });
});
