import { join } from 'node:path';
import { defaultSizeOnDisk } from '@recordbus/bus/config';
import { lockDataDirectory, writeStackNote } from '@recordbus/embedded';
import { findExtensionsConfig } from '@recordbus/extension-host/config';
import { host } from '@recordbus/process/config';
import { type ProcessParts, runProcess } from '@recordbus/process/run-process';
import { loadTokenSecret } from '@recordbus/tokens';
import { findAdminPages } from './admin-pages.ts';
import { banner } from './banner.ts';
import { choosePort } from './choose-port.ts';
import { prepareEncryptionKey } from './encryption-key.ts';
import { localVariables, readArguments } from './options.ts';
import { restoreAndRestart } from './restore-and-restart.ts';
import { followRestoreOrders, restoreDirectoryOf } from './restore-orders.ts';
import { startSeparateProcesses } from './separate-processes.ts';
import { startServers } from './servers.ts';

const variables = { ...localVariables, host };

/** How long to wait for a stack that is stopping, and for its port, in milliseconds. */
const waitMs = 20_000;

/** Set when a restore is due. It begins when everything has stopped; a signal before that ends the process. */
let restore: (() => Promise<void>) | undefined;
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
  process.on(signal, () => {
    restore = undefined;
  });
const exit = (code: number): void => {
  if (restore) void restore();
  else process.exit(code);
};

const main = async ({ config, log, lifecycle, metrics }: ProcessParts<typeof variables>): Promise<void> => {
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
          SERVICE_RESTORE_DIR: restoreDirectoryOf(config),
          ...(encryptionKey !== undefined && { SERVICE_ENCRYPTION_KEY: encryptionKey }),
          ...(eventStreamMaxBytes && { SERVICE_EVENTS_MAX_BYTES: String(eventStreamMaxBytes) }),
        },
        host: config.host,
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
  process.stdout.write(
    banner(stack, {
      durationMs: performance.now() - startedAtMs,
      isElsewhere: config.port === undefined && gatewayPort === 0,
    }),
  );
  announce();
  pages.buildIfMissing(log, lifecycle);
  const orders = followRestoreOrders(restoreDirectoryOf(config), log, () => {
    restore = () => restoreAndRestart({ directory: restoreDirectoryOf(config), url });
    void lifecycle.stop('a restore is due');
  });
  lifecycle.onStop('restore orders', () => orders.stop());
};

await runProcess('local', variables, main, exit);
