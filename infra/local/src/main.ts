import { join } from 'node:path';
import { defaultSizeOnDisk } from '@recordbus/bus/config';
import { lockDataDirectory, writeStackNote } from '@recordbus/embedded';
import { findExtensionsConfig } from '@recordbus/extension-host/config';
import { host } from '@recordbus/process/config';
import { runProcess } from '@recordbus/process/run-process';
import { loadTokenSecret } from '@recordbus/tokens';
import { findAdminPages } from './admin-pages.ts';
import { banner } from './banner.ts';
import { choosePort } from './choose-port.ts';
import { prepareEncryptionKey } from './encryption-key.ts';
import { localVariables, readArguments } from './options.ts';
import { startSeparateProcesses } from './separate-processes.ts';
import { startServers } from './servers.ts';

/** How long to wait for a stack that is stopping, and for its port, in milliseconds. */
const waitMs = 20_000;

await runProcess('local', { ...localVariables, host }, async ({ config, log, lifecycle, metrics }) => {
  const startedAtMs = performance.now();
  const { separateProcesses } = readArguments(process.argv.slice(2));
  const lock = await lockDataDirectory(config.dataDirectory, { waitMs });
  lifecycle.onStop('data directory', () => lock.release());
  const gatewayPort = await choosePort({ ...config, waitMs: lock.isTakenOver ? waitMs : 0 });
  const extensions = await findExtensionsConfig(config);
  const pages = findAdminPages(config.pagesDirectory);
  // Before the servers: an unusable secret file ends the start at once.
  const secret = loadTokenSecret(config);
  const servers = await startServers({ ...config, log, lifecycle });
  // The disk under an external bus is unknown here: the services follow its limits.
  const defaultStreamBytes = servers.embedded.natsUrl
    ? await defaultSizeOnDisk(join(config.dataDirectory, 'nats'))
    : undefined;
  const eventStreamMaxBytes = config.eventStreamMaxBytes ?? defaultStreamBytes;

  const encryptionKey = await prepareEncryptionKey({
    config,
    databaseUrl: servers.databaseUrl,
    isOwnDatabase: servers.embedded.databaseUrl !== undefined,
    log,
  });

  const stack = separateProcesses
    ? await startSeparateProcesses({
        environment: {
          SERVICE_DATABASE_URL: servers.databaseUrl,
          SERVICE_NATS_URL: servers.natsUrl,
          SERVICE_DATA_DIR: config.dataDirectory,
          SERVICE_PAGES_DIR: pages.directory,
          ...(encryptionKey !== undefined && { SERVICE_ENCRYPTION_KEY: encryptionKey }),
          ...(eventStreamMaxBytes && { SERVICE_EVENTS_MAX_BYTES: String(eventStreamMaxBytes) }),
        },
        gatewayPort,
        log,
        lifecycle,
        onRestart: () => announce(),
      })
    : // Imported here: a process that only supervises others need not load what runs in them.
      await (await import('./one-process.ts')).startInOneProcess({
        config: { ...config, eventStreamMaxBytes, encryptionKey, pagesDirectory: pages.directory },
        ...servers,
        extensions,
        secret,
        gatewayPort,
        log,
        lifecycle,
        metrics,
      });

  /** Sends the addresses to the parent process, if it listens. */
  function announce(): void {
    const { url, setupToken } = stack;
    process.send?.({ ready: true, name: 'local', url, setupToken, services: stack.services() });
  }

  const { url, setupToken } = stack;
  const note = await writeStackNote(config.dataDirectory, { url, setupToken, ...servers.embedded });
  lifecycle.onStop('stack note', () => note.remove());
  process.stdout.write(banner(stack, performance.now() - startedAtMs));
  announce();
  pages.buildIfMissing(log, lifecycle);
});
