import { fileURLToPath } from 'node:url';
import { startProcess } from '../child-process.ts';

interface BareServer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts the bare server on the product's database. */
export async function startBareServer(databaseUrl: string): Promise<BareServer> {
  const child = startProcess(fileURLToPath(new URL('main.ts', import.meta.url)), { args: [databaseUrl] });
  const { url } = await child.message<{ url: string }>();
  return { url, pid: child.pid, stop: () => child.stop() };
}
