import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** This program's own stack. */
interface OwnStack extends AsyncDisposable {
  readonly url: string;
  /** Makes the first admin. */
  readonly setupToken: string;
}

const program = join(import.meta.dirname, '../../../infra/local/src/main.ts');

/** Starts a stack with its data in a directory. It ends with this program. */
export async function startStack(directory: string): Promise<OwnStack> {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, SERVICE_DATA_DIR: directory, SERVICE_LOG_LEVEL: 'error' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const { url, setupToken } = await readiness(child);
  return {
    url,
    setupToken,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

/** Waits for the message from a stack that answers. */
function readiness(child: ChildProcess): Promise<{ readonly url: string; readonly setupToken: string }> {
  return new Promise((resolve, reject) => {
    child.on('message', (message: { ready?: boolean; url: string; setupToken: string }) => {
      if (message.ready) resolve(message);
    });
    child.once('exit', (code) => reject(new Error(`The stack ended with ${code}.`)));
  });
}
