import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../stacks/stack.ts';

const run = promisify(execFile);

/** Builds the admin pages unless these sources have a build, and returns their directory. */
export async function builtPages(): Promise<string> {
  const program = join(repository, 'services/admin/pages/build/main.ts');
  const { stdout } = await run(process.execPath, [program], { env: { ...process.env, NODE_ENV: 'production' } });
  return stdout.trim();
}
