import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProcess } from '../child-process.ts';
import { type AdminApi, signInFirstAdmin } from './admin-api.ts';
import { findDatabaseUrl } from './product-layout.ts';

/** The product as `npm start` runs it, on a temporary data directory. */
export interface Product {
  readonly url: string;
  readonly pid: number;
  /** PostgreSQL and nats-server are its descendants. */
  readonly pids: readonly number[];
  readonly databaseUrl: string;
  readonly dataDirectory: string;
  readonly admin: AdminApi;
  /** The secret that signs its tokens. */
  readonly secret: string;
  /** Kills its process, without a signal to prepare for it, and starts another on the same data and port. */
  restart(): Promise<void>;
  /** Stops it and removes its data. */
  stop(): Promise<void>;
}

interface StartOptions {
  readonly logLevel: string;
  readonly profileDirectory: string | undefined;
  readonly extensionsDirectory?: string | undefined;
  /** The root of another checkout to start; default: this one. */
  readonly checkout?: string | undefined;
}

const ownRoot = fileURLToPath(new URL('../../../..', import.meta.url));

/** Starts the product and creates its first admin. */
export async function startProduct(options: StartOptions): Promise<Product> {
  const { logLevel, profileDirectory, extensionsDirectory, checkout: root = ownRoot } = options;
  const dataDirectory = mkdtempSync(join(tmpdir(), 'recordbus-bench-'));
  // The variables that the bench was started with must not affect the product.
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SERVICE|OTEL)_/.test(name));
  const secret = randomBytes(32).toString('hex');
  const start = (port: string) =>
    startProcess(join(root, 'infra/local/src/main.ts'), {
      // As in the launcher for `npm start`: when the bench is killed, the stack stops by itself.
      nodeFlags: ['--require', join(root, 'infra/launch/tether.cjs'), ...profileFlags(profileDirectory)],
      environment: {
        ...Object.fromEntries(inherited),
        SERVICE_DATA_DIR: dataDirectory,
        SERVICE_HOST: '127.0.0.1',
        SERVICE_PORT: port,
        SERVICE_LOG_LEVEL: logLevel,
        SERVICE_JWT_SECRET: secret,
        ...(extensionsDirectory && { SERVICE_EXTENSIONS_DIR: extensionsDirectory }),
      },
    });
  let child = start('0');
  const stop = async () => {
    await child.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
  };
  try {
    const { url, setupToken } = await child.message<{ url: string; setupToken: string }>();
    return {
      url,
      get pid() {
        return child.pid;
      },
      get pids() {
        return [child.pid];
      },
      databaseUrl: await findDatabaseUrl(dataDirectory),
      dataDirectory,
      secret,
      admin: await signInFirstAdmin(url, setupToken),
      async restart() {
        await child.kill();
        child = start(new URL(url).port);
        await child.message();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const profileFlags = (directory: string | undefined): string[] =>
  directory === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${directory}`];
