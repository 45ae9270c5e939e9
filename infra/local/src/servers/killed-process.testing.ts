import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Starts a server in a process that is killed outright as soon as the server is ready. Answers the server's pid. */
export async function startInKilledProcess(file: string, start: string, directory: string): Promise<number> {
  const code = `
    const { ${start} } = await import(${JSON.stringify(join(import.meta.dirname, file))});
    const { createLogger } = await import('@recordbus/shared/logging');
    const server = await ${start}({ directory: ${JSON.stringify(directory)}, log: createLogger('test', 'silent') });
    process.send(server.pid);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [pid] = await once(child, 'message');
  child.kill('SIGKILL');
  await once(child, 'exit');
  return Number(pid);
}
