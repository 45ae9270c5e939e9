import { writeStackNote } from '@recordbus/embedded';
import { findExtensionsConfig } from '@recordbus/extension-host/config';
import { host } from '@recordbus/shared/config';
import { runProcess } from '@recordbus/shared/run-process';
import { banner } from './banner.ts';
import { choosePort } from './choose-port.ts';
import { localVariables, readArguments } from './options.ts';
import { startSeparateProcesses } from './separate-processes.ts';
import { startServers } from './servers.ts';

await runProcess('local', { ...localVariables, host }, async ({ config, log, lifecycle, metrics }) => {
  const startedAtMs = performance.now();
  const { separateProcesses } = readArguments(process.argv.slice(2));
  const gatewayPort = await choosePort(config.port, config.host);
  const servers = await startServers({ ...config, log, lifecycle });

  const stack = separateProcesses
    ? await startSeparateProcesses({
        environment: {
          SERVICE_DATABASE_URL: servers.databaseUrl,
          SERVICE_NATS_URL: servers.natsUrl,
          SERVICE_DATA_DIR: config.dataDirectory,
        },
        gatewayPort,
        hasExtensions: (await findExtensionsConfig(config)) !== undefined,
        log,
        lifecycle,
        onRestart: () => announce(),
      })
    : // Who only supervises processes need not load what runs in them.
      await (await import('./one-process.ts')).startInOneProcess({
        config,
        ...servers,
        gatewayPort,
        log,
        lifecycle,
        metrics,
      });

  /** Tells a parent process, if it listens, where everything is. */
  function announce(): void {
    const { url, setupToken } = stack;
    process.send?.({ ready: true, name: 'local', url, setupToken, services: stack.services() });
  }

  const { url, setupToken } = stack;
  const note = await writeStackNote(config.dataDirectory, { url, setupToken, ...servers.embedded });
  lifecycle.onStop('stack note', () => note.remove());
  process.stdout.write(banner(stack, performance.now() - startedAtMs));
  announce();
});
