import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers';
import { findFreePort } from '../processes/free-port.ts';
import type { Server } from './server.ts';

/** Starts PostgreSQL from its public image. */
export async function startPostgresContainer(): Promise<Server> {
  const port = await findFreePort();
  const container = await new GenericContainer('postgres:18')
    .withEnvironment({ POSTGRES_PASSWORD: 'postgres' })
    .withCommand(['postgres', '-c', 'fsync=off', '-c', 'max_connections=400'])
    .withExposedPorts({ container: 5432, host: port })
    // The first ready message comes from the server that runs the image's set-up.
    .withWaitStrategy(Wait.forAll([Wait.forListeningPorts(), Wait.forLogMessage(/listening on IPv4 address/)]))
    .start();
  return toServer(container, `postgresql://postgres:postgres@${container.getHost()}:${port}/postgres`);
}

/** Starts NATS with JetStream from its public image. */
export async function startNatsContainer(): Promise<Server> {
  const port = await findFreePort();
  const container = await new GenericContainer('nats:2.14')
    .withCommand(['-js', '-sd', '/data'])
    .withExposedPorts({ container: 4222, host: port })
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
    .start();
  return toServer(container, `nats://${container.getHost()}:${port}`);
}

async function toServer(container: StartedTestContainer, url: string): Promise<Server> {
  // The container's `stop` works once, but tests stop these servers repeatedly.
  const runtime = await getContainerRuntimeClient();
  const handle = runtime.container.getById(container.getId());
  const remove = async (): Promise<void> => {
    await handle.remove({ force: true, v: true });
  };
  return {
    url,
    start: () => container.restart(),
    async stop() {
      await handle.stop();
    },
    async kill() {
      await handle.kill();
    },
    async wipe() {
      await container.exec(['sh', '-c', 'rm -rf /data/*']);
      await handle.kill();
      await container.restart();
    },
    async freeze() {
      await handle.pause();
    },
    async thaw() {
      await handle.unpause();
    },
    remove,
    [Symbol.asyncDispose]: remove,
  };
}
