import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

type Ending = 'killed' | 'exits';

/** Starts a server in a process that is killed, or exits, as soon as the server is ready. Returns the server's pid. */
export async function startInProcessThat(
  ending: Ending,
  file: string,
  start: string,
  directory: string,
): Promise<number> {
  const code = `
    const { ${start} } = await import(${JSON.stringify(join(import.meta.dirname, file))});
    const { createLogger } = await import('@recordbus/process/logging');
    const server = await ${start}({ directory: ${JSON.stringify(directory)}, log: createLogger('test', 'silent') });
    process.send(server.pid, () => ${ending === 'exits'} && process.exit());
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [pid] = await once(child, 'message');
  if (ending === 'killed') child.kill('SIGKILL');
  await once(child, 'exit');
  return Number(pid);
}
